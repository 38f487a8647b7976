//===- EmulatorArchive.cpp - the emulator that emulated kernels are linked with -------------------===//
#include "EmulatorArchive.h"

asm(".pushsection .rodata\n"
    ".balign 16\n"
    ".globl par_emulator_begin\n"
    "par_emulator_begin: .incbin \"" PAR_EMULATION_ARCHIVE "\"\n"
    ".globl par_emulator_end\n"
    "par_emulator_end:\n"
    ".popsection\n");
extern "C" const char par_emulator_begin[], par_emulator_end[];

llvm::StringRef mlir::par::getEmulatorArchive() {
  return {par_emulator_begin, static_cast<size_t>(par_emulator_end - par_emulator_begin)};
}

//===- OutOfMemory.cpp - memory that is not there ---------------------------------------------------===//
#include "par/Support/OutOfMemory.h"
#include "par/Support/FolderOnSignal.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <cstring>
#include <new>
#include <unistd.h>

static const char *remedy;

/// Allocates nothing.
static void end() {
  for (const char *text : {"error: out of memory; ", remedy, "\n"})
    (void)!write(STDERR_FILENO, text, strlen(text));
  mlir::par::removeFolderNow();
  llvm::sys::RunInterruptHandlers();
  _exit(1);
}

void mlir::par::endWithoutMemory(const char *text) {
  remedy = text;
  std::set_new_handler(end);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { end(); });
}

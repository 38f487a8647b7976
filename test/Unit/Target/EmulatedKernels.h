//===- EmulatedKernels.h - a library of kernels that a test has made --------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_TARGET_EMULATEDKERNELS_H
#define PAR_TEST_UNIT_TARGET_EMULATEDKERNELS_H

#include "emulation/Buffers.h"
#include "par/Target/Emulation.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <new>

namespace mlir::par {

/// Memory that begins where buffers of a device do.
template <typename T>
struct DeviceAllocator {
  using value_type = T;
  DeviceAllocator() = default;
  template <typename Other>
  DeviceAllocator(const DeviceAllocator<Other> &) {}
  T *allocate(size_t count) {
    return static_cast<T *>(::operator new(count * sizeof(T), std::align_val_t(kAlignment)));
  }
  void deallocate(T *memory, size_t) { ::operator delete(memory, std::align_val_t(kAlignment)); }
  friend bool operator==(DeviceAllocator, DeviceAllocator) { return true; }
  friend bool operator!=(DeviceAllocator, DeviceAllocator) { return false; }
  static constexpr size_t kAlignment = 256;
};

/// A folder that goes when the test ends.
class TemporaryFolder {
public:
  TemporaryFolder() { EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("kernels", path)); }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }
  std::string at(llvm::StringRef name) const {
    llvm::SmallString<128> file(path);
    llvm::sys::path::append(file, name);
    return file.str().str();
  }

private:
  llvm::SmallString<128> path;
};

/// Loaded from the bitcode that a device's back end gets.
class EmulatedKernels {
public:
  /// `counts`: what they execute is counted.
  explicit EmulatedKernels(llvm::MemoryBufferRef bitcode, bool counts = false) {
    error = llvm::toString(writeEmulatedLibrary(bitcode, folder.at("kernels.so"), counts));
    if (!error.empty())
      return;
    library = dlopen(folder.at("kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      error = dlerror();
  }
  ~EmulatedKernels() {
    if (library)
      dlclose(library);
  }

  /// Null if there is none.
  par_emulated_kernel find(const std::string &name) const {
    return reinterpret_cast<par_emulated_kernel>(dlsym(library, ("par_emulated_" + name).c_str()));
  }

  /// The counts of all launches so far; null if they are not counted.
  EmulatedCounts *getCounts() const {
    return static_cast<EmulatedCounts *>(dlsym(library, kEmulatedCounts.data()));
  }

  std::string getPath() const { return folder.at("kernels.so"); }

  std::string error; ///< empty: there is a library

private:
  TemporaryFolder folder;
  void *library = nullptr;
};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_EMULATEDKERNELS_H

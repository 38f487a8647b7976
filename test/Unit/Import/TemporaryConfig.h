//===- TemporaryConfig.h - a config.json for a test -------------------------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_IMPORT_TEMPORARYCONFIG_H
#define PAR_TEST_UNIT_IMPORT_TEMPORARYCONFIG_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace mlir::par {

/// A config.json with `text`, removed at the end.
class TemporaryConfig {
public:
  explicit TemporaryConfig(llvm::StringRef text) {
    int descriptor;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("config", "json", descriptor, path));
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  }
  ~TemporaryConfig() { llvm::sys::fs::remove(path); }
  std::string str() const { return path.str().str(); }

private:
  llvm::SmallString<128> path;
};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_IMPORT_TEMPORARYCONFIG_H

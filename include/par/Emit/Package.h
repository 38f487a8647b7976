//===- Package.h - writing DIR.par ------------------------------------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_PACKAGE_H
#define PAR_EMIT_PACKAGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace mlir::par {

/// A package being written: a folder beside the final one, renamed into its place by `commit` and removed by
/// the destructor otherwise.
/// SHA-256 of a manifest but for `files` and `fingerprint`: the program holds it, so that it never runs with
/// other offsets, counts or sizes than its own.
std::string hashManifest(llvm::json::Object manifest);

class PackageWriter {
public:
  /// Fails if `path` exists and is no package, or its folder cannot be written.
  static llvm::Expected<PackageWriter> create(llvm::StringRef path);
  PackageWriter(PackageWriter &&other);
  ~PackageWriter();

  /// Where to write the file `name`.
  std::string getPath(llvm::StringRef name) const;
  /// Adds the launcher (and its names rank0 … if there are at most 64 ranks), hashes all files, writes the
  /// manifest and renames.
  llvm::Error commit(llvm::json::Object manifest, llvm::StringRef launcher, int64_t ranks);

private:
  PackageWriter(std::string final, std::string temporary)
      : target(std::move(final)), folder(std::move(temporary)) {}
  llvm::Error writeManifest(llvm::json::Object manifest);

  std::string target, folder;
};

} // namespace mlir::par

#endif // PAR_EMIT_PACKAGE_H

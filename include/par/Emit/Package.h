//===- Package.h - writing DIR.par ------------------------------------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_PACKAGE_H
#define PAR_EMIT_PACKAGE_H

#include "par/Support/TemporaryFolder.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace mlir::par {

/// SHA-256 of a manifest but for `files`, `fingerprint` and `proof`: the program holds it, so that it never
/// runs with other offsets, counts or sizes than its own.
std::string hashManifest(llvm::json::Object manifest);

/// SHA-256, as manifests have it.
std::string hashBytes(llvm::StringRef bytes);

/// The text of a manifest that has its `files`, with its `fingerprint`: the hash of the text with 64 zeros in
/// that place.
std::string sealManifest(llvm::json::Object manifest);

/// Fails if no package could be put at `path`: something else is there, or its folder cannot be written.
llvm::Error checkPackagePlace(llvm::StringRef path);

/// A package being written: a folder beside the final one, moved into its place by `commit` and removed by
/// the destructor otherwise. All that is written on the way is in it.
class PackageWriter {
public:
  /// Fails as `checkPackagePlace`.
  static llvm::Expected<PackageWriter> create(llvm::StringRef path);

  /// Where to write the file `name`.
  std::string getPath(llvm::StringRef name) const { return folder.getPath(name); }
  llvm::Error write(llvm::StringRef name, llvm::StringRef bytes);
  /// Adds the launcher (and its names rank0 … if there are at most 64 ranks), hashes all files, writes the
  /// manifest and puts the package in its place.
  llvm::Error commit(llvm::json::Object manifest, llvm::StringRef launcher, int64_t ranks);

private:
  PackageWriter(std::string final, TemporaryFolder temporary)
      : target(std::move(final)), folder(std::move(temporary)) {}
  llvm::Error writeFile(llvm::StringRef name, llvm::StringRef bytes, unsigned mode);
  llvm::Error writeManifest(llvm::json::Object manifest);

  std::string target;
  TemporaryFolder folder;
};

} // namespace mlir::par

#endif // PAR_EMIT_PACKAGE_H

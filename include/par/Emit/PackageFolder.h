//===- PackageFolder.h - a package that lies where another is to be -----------------------*- C++ -*-===//
#ifndef PAR_EMIT_PACKAGEFOLDER_H
#define PAR_EMIT_PACKAGEFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::par {

/// A folder that is a package of par, of whatever version, and holds nothing else: its manifest, the files
/// that this lists, and the launcher under the names of ranks. It may be replaced, for all that is in it was
/// made by par-compile.
class PackageFolder {
public:
  /// Nothing if nothing is at `path`. Fails if something else is, or a link, or a package that holds more;
  /// the error calls it `name`.
  static llvm::Expected<std::optional<PackageFolder>> open(llvm::StringRef path, llvm::StringRef name);
  PackageFolder(PackageFolder &&other);
  ~PackageFolder();

  /// Deletes the files that `open` found, by name, and the folder, which is now at `path`. A file that was
  /// added since stays, and is an error.
  llvm::Error remove(llvm::StringRef path);

private:
  explicit PackageFolder(int descriptor) : descriptor(descriptor) {}
  llvm::Error readNames(llvm::StringRef name);
  bool isAt(llvm::StringRef path) const;

  int descriptor;
  std::vector<std::string> names;
};

/// Puts the finished package in the folder `folder` at `target`, in place of the package there, if any. At
/// every moment one of the two is there, whole. What is no package is never replaced, not even if it appears
/// meanwhile.
llvm::Error movePackage(llvm::StringRef folder, llvm::StringRef target);

/// `first` and `second` change places: at once, or by three renames where the file system knows no better.
/// Nothing has changed where it fails.
std::error_code exchangeFolders(llvm::StringRef first, llvm::StringRef second, bool atOnce = true);

} // namespace mlir::par

#endif // PAR_EMIT_PACKAGEFOLDER_H

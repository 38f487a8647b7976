//===- MovePackage.cpp - a finished package takes its place -----------------------------------------===//
#include "par/Emit/PackageFolder.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>

using namespace mlir::par;

static std::error_code lastError() { return std::error_code(errno, std::generic_category()); }

/// Some file systems know no flags of renameat2.
static bool isUnknown(std::error_code code) {
  return code == std::errc::invalid_argument || code == std::errc::function_not_supported ||
         code == std::errc::operation_not_supported;
}

static std::error_code rename(const std::string &from, const std::string &to, unsigned flags = 0) {
  return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) ? lastError() : std::error_code();
}

static std::error_code exchangeByRenames(const std::string &first, const std::string &second) {
  llvm::SmallString<128> aside;
  llvm::sys::fs::createUniquePath(second + ".tmp-%%%%%%", aside, /*MakeAbsolute=*/false);
  std::string third = aside.str().str();
  if (std::error_code code = rename(second, third))
    return code;
  if (std::error_code code = rename(first, second)) {
    rename(third, second);
    return code;
  }
  return rename(third, first);
}

std::error_code mlir::par::exchangeFolders(llvm::StringRef first, llvm::StringRef second, bool atOnce) {
  if (!atOnce)
    return exchangeByRenames(first.str(), second.str());
  std::error_code code = rename(first.str(), second.str(), RENAME_EXCHANGE);
  return isUnknown(code) ? exchangeByRenames(first.str(), second.str()) : code;
}

/// Where nothing is; `file_exists` otherwise.
static std::error_code moveToFree(const std::string &folder, const std::string &target) {
  std::error_code code = rename(folder, target, RENAME_NOREPLACE);
  if (!isUnknown(code))
    return code;
  struct stat status;
  if (!lstat(target.c_str(), &status))
    return std::make_error_code(std::errc::file_exists);
  // Could only replace an empty folder.
  code = rename(folder, target);
  return code == std::errc::directory_not_empty ? std::make_error_code(std::errc::file_exists) : code;
}

/// What was at `target` is in `folder` now. It is looked at again: it may have changed since.
static llvm::Error removeOlder(llvm::StringRef folder, llvm::StringRef target) {
  llvm::Expected<std::optional<PackageFolder>> older = PackageFolder::open(folder, target);
  if (!older) {
    exchangeFolders(folder, target);
    return older.takeError();
  }
  return *older ? (*older)->remove(folder) : llvm::Error::success();
}

llvm::Error mlir::par::movePackage(llvm::StringRef folder, llvm::StringRef target) {
  // Others may move theirs there or away at any time; each of them is done then.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::error_code code = moveToFree(folder.str(), target.str());
    if (!code)
      return llvm::Error::success();
    if (code == std::errc::file_exists) {
      llvm::Expected<std::optional<PackageFolder>> older = PackageFolder::open(target, target);
      if (!older)
        return older.takeError();
      code = *older ? exchangeFolders(folder, target)
                    : std::make_error_code(std::errc::no_such_file_or_directory);
      if (!code)
        return removeOlder(folder, target);
    }
    if (code != std::errc::no_such_file_or_directory)
      return makeError(target + ": cannot put the package in its place: " + code.message());
  }
  return makeError(target +
                   ": cannot put the package in its place: others keep moving theirs there; give each "
                   "compilation a name of its own");
}

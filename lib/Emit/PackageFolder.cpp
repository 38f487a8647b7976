//===- PackageFolder.cpp - a package that lies where another is to be -------------------------------===//
#include "par/Emit/PackageFolder.h"
#include "par/Support/JsonText.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::par;
namespace fs = llvm::sys::fs;

static std::error_code lastError() { return std::error_code(errno, std::generic_category()); }

/// Names of the files that a manifest lists, each with its hash.
using FileHashes = llvm::StringMap<std::string>;

static bool isHash(llvm::StringRef text) { return text.size() == 64 && llvm::all_of(text, llvm::isHexDigit); }

/// Nothing if `text` is no manifest of par, of whatever version: all have these three keys.
static std::optional<FileHashes> parseManifest(llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> value = parseJson("", text, "manifest");
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  const llvm::json::Object *manifest = value->getAsObject();
  if (!manifest || !manifest->getInteger("format_version") ||
      !isHash(manifest->getString("fingerprint").value_or("")) || !manifest->getObject("files"))
    return std::nullopt;
  FileHashes files;
  for (auto &[name, hash] : *manifest->getObject("files")) {
    if (!isHash(hash.getAsString().value_or("")))
      return std::nullopt;
    files[llvm::StringRef(name)] = hash.getAsString()->str();
  }
  return files;
}

/// The bytes of the regular file `name` in the folder `descriptor`, not through a link.
static std::unique_ptr<llvm::MemoryBuffer> readFile(int descriptor, const std::string &name) {
  // A pipe must not be waited for.
  int file = openat(descriptor, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  struct stat status;
  std::unique_ptr<llvm::MemoryBuffer> bytes;
  if (!fstat(file, &status) && S_ISREG(status.st_mode))
    if (auto read =
            llvm::MemoryBuffer::getOpenFile(file, name, status.st_size, /*RequiresNullTerminator=*/false))
      bytes = std::move(*read);
  close(file);
  return bytes;
}

/// rank0, rank1, …
static bool isRankName(llvm::StringRef name) {
  unsigned rank;
  return name.consume_front("rank") && !name.getAsInteger(10, rank) && name == llvm::utostr(rank);
}

/// The launcher itself (ranks are hard links to it), or a copy of it, as `cp -r` leaves.
static bool isLauncher(int descriptor, const std::string &name, const struct stat &status,
                       const FileHashes &files) {
  struct stat launcher;
  if (!fstatat(descriptor, "rank", &launcher, AT_SYMLINK_NOFOLLOW) && launcher.st_ino == status.st_ino)
    return true;
  std::unique_ptr<llvm::MemoryBuffer> bytes = readFile(descriptor, name);
  auto hash = files.find("rank");
  return bytes && hash != files.end() &&
         llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes->getBuffer())),
                     /*LowerCase=*/true) == hash->second;
}

/// What par-emulate adds to program0.so before the manifest lists it.
static bool isOfEmulation(llvm::StringRef name, const FileHashes &files) {
  return name.consume_back(".emulated.so") && files.count((name + ".so").str());
}

static bool isPart(int descriptor, const std::string &name, const FileHashes &files) {
  struct stat status;
  if (fstatat(descriptor, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
    return false;
  return name == "manifest.json" || files.count(name) || isOfEmulation(name, files) ||
         (isRankName(name) && isLauncher(descriptor, name, status, files));
}

/// By name, so that the same one is called foreign each time.
static llvm::Expected<std::vector<std::string>> listNames(int descriptor, llvm::StringRef name) {
  // Another description than ours: reading moves its place.
  int folder = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = folder < 0 ? nullptr : fdopendir(folder);
  if (!stream)
    return makeError(name + ": cannot be read: " + lastError().message());
  std::vector<std::string> names;
  while (const dirent *entry = readdir(stream))
    if (llvm::StringRef(entry->d_name) != "." && llvm::StringRef(entry->d_name) != "..")
      names.push_back(entry->d_name);
  closedir(stream);
  llvm::sort(names);
  return names;
}

llvm::Error PackageFolder::readNames(llvm::StringRef name) {
  llvm::Expected<std::vector<std::string>> found = listNames(descriptor, name);
  if (!found)
    return found.takeError();
  if (!llvm::is_contained(*found, "manifest.json"))
    return makeError(
        name + ": exists and is no package (it has no manifest.json); choose another name or remove it");
  std::unique_ptr<llvm::MemoryBuffer> text = readFile(descriptor, "manifest.json");
  std::optional<FileHashes> files = text ? parseManifest(text->getBuffer()) : std::nullopt;
  if (!files)
    return makeError(name +
                     ": exists and is no package of par (its manifest.json is not one of par's); choose "
                     "another name or remove it");
  for (const std::string &entry : *found)
    if (!isPart(descriptor, entry, *files))
      return makeError(
          name + ": holds " + entry +
          ", which is no part of the package and would be lost; move it away or choose another name");
  names = std::move(*found);
  return llvm::Error::success();
}

/// Whether `path` still names the folder that is open.
bool PackageFolder::isAt(llvm::StringRef path) const {
  struct stat here, there;
  return !fstat(descriptor, &here) && !lstat(path.str().c_str(), &there) && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

llvm::Expected<std::optional<PackageFolder>> PackageFolder::open(llvm::StringRef path, llvm::StringRef name) {
  std::string file = path.str();
  for (;;) {
    struct stat status;
    if (lstat(file.c_str(), &status))
      return errno == ENOENT ? llvm::Expected<std::optional<PackageFolder>>(std::nullopt)
                             : makeError(name + ": cannot create the package: " + lastError().message());
    if (S_ISLNK(status.st_mode))
      return makeError(name +
                       ": is a symbolic link, and no package is written through one; give the folder that it "
                       "leads to, or remove it");
    if (!S_ISDIR(status.st_mode))
      return makeError(name +
                       ": exists and is no package (it is no folder); choose another name or remove it");
    int descriptor = ::open(file.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0 && errno != ENOENT && errno != ENOTDIR)
      return makeError(name + ": cannot be read: " + lastError().message());
    if (descriptor < 0)
      continue;
    PackageFolder folder(descriptor);
    llvm::Error error = folder.readNames(name);
    if (!error)
      return std::optional<PackageFolder>(std::move(folder));
    if (folder.isAt(path))
      return std::move(error);
    // Another compilation put its package here meanwhile, and deletes the one that was read.
    llvm::consumeError(std::move(error));
  }
}

PackageFolder::PackageFolder(PackageFolder &&other)
    : descriptor(std::exchange(other.descriptor, -1)), names(std::move(other.names)) {}

PackageFolder::~PackageFolder() {
  if (descriptor >= 0)
    close(descriptor);
}

llvm::Error PackageFolder::remove(llvm::StringRef path) {
  for (const std::string &name : names)
    unlinkat(descriptor, name.c_str(), 0);
  if (rmdir(path.str().c_str()))
    return makeError(
        path +
        ": is what is left of the older package, with what was added to it while the new one was "
        "put in its place; it cannot be removed: " +
        lastError().message());
  return llvm::Error::success();
}

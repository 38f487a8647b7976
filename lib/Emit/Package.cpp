//===- Package.cpp - writing DIR.par --------------------------------------------------------------------===//
#include "par/Emit/Package.h"
#include "par/Support/FolderOnSignal.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir::par;

static llvm::Error makeError(const llvm::Twine &text) {
  return llvm::make_error<llvm::StringError>(text.str(), llvm::inconvertibleErrorCode());
}

static std::string hash(llvm::StringRef bytes) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

static std::string print(llvm::json::Object manifest) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(manifest)) << "\n";
  return text;
}

std::string mlir::par::hashManifest(llvm::json::Object manifest) {
  manifest["files"] = llvm::json::Object{};
  manifest["fingerprint"] = std::string(64, '0');
  return hash(print(std::move(manifest)));
}

llvm::Expected<PackageWriter> PackageWriter::create(llvm::StringRef path) {
  llvm::SmallString<128> target(path);
  while (target.size() > 1 && llvm::sys::path::is_separator(target.back()))
    target.pop_back();
  llvm::SmallString<128> manifest(target);
  llvm::sys::path::append(manifest, "manifest.json");
  if (llvm::sys::fs::exists(target) && !llvm::sys::fs::exists(manifest))
    return makeError(
        target.str() +
        ": exists and is no package (it has no manifest.json); choose another name or remove it");
  llvm::SmallString<128> folder;
  // No signal comes between the folder and what removes it.
  SignalsWait wait;
  llvm::sys::fs::createUniquePath(target.str() + ".tmp-%%%%%%", folder, /*MakeAbsolute=*/false);
  if (std::error_code code = llvm::sys::fs::create_directory(folder, /*IgnoreExisting=*/false))
    return makeError(target.str() + ": cannot create the package: " + code.message());
  removeFolderOnSignal(folder);
  return PackageWriter(target.str().str(), folder.str().str());
}

PackageWriter::PackageWriter(PackageWriter &&other)
    : target(std::move(other.target)), folder(std::move(other.folder)) {
  other.folder.clear();
}

PackageWriter::~PackageWriter() {
  if (folder.empty())
    return;
  llvm::sys::fs::remove_directories(folder);
  dontRemoveFolderOnSignal();
}

std::string PackageWriter::getPath(llvm::StringRef name) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

/// `files` maps names to hashes; `fingerprint` is that of the text with 64 zeros in its place.
llvm::Error PackageWriter::writeManifest(llvm::json::Object manifest) {
  llvm::json::Object files;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator entry(folder, code), end; entry != end && !code;
       entry.increment(code)) {
    auto bytes = llvm::MemoryBuffer::getFile(entry->path());
    if (!bytes)
      return makeError(entry->path() + ": " + bytes.getError().message());
    // A key is kept by reference unless it is a std::string.
    files[llvm::sys::path::filename(entry->path()).str()] = hash((*bytes)->getBuffer());
  }
  manifest["files"] = std::move(files);
  std::string zeros(64, '0');
  manifest["fingerprint"] = zeros;
  std::string text = print(std::move(manifest));
  std::string key = "\"fingerprint\":\"";
  size_t position = text.find(key + zeros) + key.size();
  std::string fingerprint = hash(text);
  text.replace(position, 64, fingerprint);
  llvm::raw_fd_ostream stream(getPath("manifest.json"), code);
  if (!code) {
    stream << text;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code ? makeError(target + ": cannot write manifest.json: " + code.message())
              : llvm::Error::success();
}

llvm::Error PackageWriter::commit(llvm::json::Object manifest, llvm::StringRef launcher, int64_t ranks) {
  namespace fs = llvm::sys::fs;
  if (std::error_code code = fs::copy_file(launcher, getPath("rank")))
    return makeError(launcher + ": cannot copy the launcher: " + code.message());
  if (std::error_code code =
          fs::setPermissions(getPath("rank"), fs::all_read | fs::all_exe | fs::owner_write))
    return makeError(getPath("rank") + ": " + code.message());
  if (llvm::Error error = writeManifest(std::move(manifest)))
    return error;
  for (int64_t rank = 0; ranks <= 64 && rank < ranks; ++rank)
    if (std::error_code code = fs::create_hard_link(getPath("rank"), getPath("rank" + std::to_string(rank))))
      return makeError(target + ": cannot link rank" + llvm::Twine(rank) + ": " + code.message());
  // A signal leaves the older package or this one.
  SignalsWait wait;
  fs::remove_directories(target);
  if (std::error_code code = fs::rename(folder, target))
    return makeError(target + ": cannot put the package in its place: " + code.message());
  folder.clear();
  dontRemoveFolderOnSignal();
  return llvm::Error::success();
}

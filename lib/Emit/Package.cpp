//===- Package.cpp - writing DIR.par --------------------------------------------------------------------===//
#include "par/Emit/Package.h"
#include "par/Emit/PackageFolder.h"
#include "par/Support/MakeError.h"
#include "par/io/EndingSignals.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::par;

static std::error_code lastError() { return std::error_code(errno, std::generic_category()); }

std::string mlir::par::hashBytes(llvm::StringRef bytes) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

static std::string print(llvm::json::Object manifest) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(manifest)) << "\n";
  return text;
}

std::string mlir::par::hashManifest(llvm::json::Object manifest) {
  manifest["files"] = llvm::json::Object{};
  manifest.erase("proof");
  manifest["fingerprint"] = std::string(64, '0');
  return hashBytes(print(std::move(manifest)));
}

std::string mlir::par::sealManifest(llvm::json::Object manifest) {
  std::string zeros(64, '0');
  manifest["fingerprint"] = zeros;
  std::string text = print(std::move(manifest));
  std::string key = "\"fingerprint\":\"";
  size_t position = text.find(key + zeros) + key.size();
  text.replace(position, 64, hashBytes(text));
  return text;
}

/// Without slashes at its end: behind them a link would be its folder.
static std::string getTarget(llvm::StringRef path) {
  while (path.size() > 1 && llvm::sys::path::is_separator(path.back()))
    path = path.drop_back();
  return path.str();
}

llvm::Error mlir::par::checkPackagePlace(llvm::StringRef path) {
  std::string target = getTarget(path);
  llvm::StringRef parent = llvm::sys::path::parent_path(target);
  if (std::error_code code =
          llvm::sys::fs::access(parent.empty() ? "." : parent, llvm::sys::fs::AccessMode::Write))
    return makeError(target + ": cannot create the package: " + code.message());
  return PackageFolder::open(target, target).takeError();
}

llvm::Expected<PackageWriter> PackageWriter::create(llvm::StringRef path) {
  if (llvm::Error error = checkPackagePlace(path))
    return std::move(error);
  std::string target = getTarget(path);
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::create(target);
  if (!folder)
    return makeError(target + ": cannot create the package: " + llvm::toString(folder.takeError()));
  return PackageWriter(target, std::move(*folder));
}

static std::error_code writeAll(int file, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return lastError();
    bytes = bytes.drop_front(std::max<ssize_t>(written, 0));
  }
  return {};
}

llvm::Error PackageWriter::writeFile(llvm::StringRef name, llvm::StringRef bytes, unsigned mode) {
  int file = ::open(getPath(name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  std::error_code code = file < 0 ? lastError() : writeAll(file, bytes);
  if (file >= 0 && ::close(file) && !code)
    code = lastError();
  return code ? makeError(target + ": cannot write " + name + ": " + code.message()) : llvm::Error::success();
}

llvm::Error PackageWriter::write(llvm::StringRef name, llvm::StringRef bytes) {
  return writeFile(name, bytes, 0666);
}

/// `files` maps names to hashes.
llvm::Error PackageWriter::writeManifest(llvm::json::Object manifest) {
  llvm::json::Object files;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator entry(folder.getPath(), code), end; entry != end && !code;
       entry.increment(code)) {
    auto bytes = llvm::MemoryBuffer::getFile(entry->path());
    if (!bytes)
      return makeError(entry->path() + ": " + bytes.getError().message());
    // A key is kept by reference unless it is a std::string.
    files[llvm::sys::path::filename(entry->path()).str()] = hashBytes((*bytes)->getBuffer());
  }
  manifest["files"] = std::move(files);
  return write("manifest.json", sealManifest(std::move(manifest)));
}

llvm::Error PackageWriter::commit(llvm::json::Object manifest, llvm::StringRef launcher, int64_t ranks) {
  auto program = llvm::MemoryBuffer::getFile(launcher);
  if (!program)
    return makeError(launcher + ": cannot be read: " + program.getError().message() +
                     "; it becomes the package's launcher and lies beside par-compile");
  if (llvm::Error error = writeFile("rank", (*program)->getBuffer(), 0777))
    return error;
  if (llvm::Error error = writeManifest(std::move(manifest)))
    return error;
  for (int64_t rank = 0; ranks <= 64 && rank < ranks; ++rank)
    if (link(getPath("rank").c_str(), getPath("rank" + std::to_string(rank)).c_str()))
      return makeError(target + ": cannot link rank" + llvm::Twine(rank) + ": " + lastError().message());
  // A signal leaves the older package or this one.
  ::par::io::SignalsWait wait;
  llvm::Error error = movePackage(folder.getPath(), target);
  folder.remove();
  return error;
}

//===- EmulatePackage.cpp - kernels of a package on the host --------------------------------------===//
#include "par/Emit/EmulatePackage.h"
#include "par/Emit/Package.h"
#include "par/Support/MakeError.h"
#include "par/Support/Nesting.h"
#include "par/Target/Emulation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace mlir::par;
using llvm::Error;
namespace json = llvm::json;

namespace {
/// The package as it is, and what is to be added to it.
class Emulation {
public:
  explicit Emulation(llvm::StringRef path) : path(path) {}

  Error run() {
    if (Error error = readManifest())
      return error;
    Error error = Error::success();
    for (const std::string &stem : findPrograms())
      if (!error)
        error = addProgram(stem);
    if (!error && added.empty())
      error = makeError(path + ": has no kernels to emulate: its target is \"" +
                        manifest.getString("target").value_or("") + "\"; give a package of --target cuda");
    if (!error)
      error = finish();
    for (auto &[temporary, name] : added)
      llvm::sys::fs::remove(temporary);
    return error;
  }

private:
  std::string getPath(const llvm::Twine &name) const {
    llvm::SmallString<128> file(path);
    llvm::sys::path::append(file, name);
    return file.str().str();
  }

  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> read(const llvm::Twine &name) const {
    std::string file = getPath(name);
    auto bytes = llvm::MemoryBuffer::getFile(file);
    if (!bytes)
      return makeError(file + ": cannot be read: " + bytes.getError().message());
    return std::move(*bytes);
  }

  Error readManifest() {
    auto text = read("manifest.json");
    if (!text)
      return text.takeError();
    std::string file = getPath("manifest.json");
    if (findDeepNesting((*text)->getBuffer(), 64))
      return makeError(file + ": is no manifest of par: it is nested too deeply");
    llvm::Expected<json::Value> value = json::parse((*text)->getBuffer());
    if (!value)
      return makeError(file + ": is no JSON: " + llvm::toString(value.takeError()));
    json::Object *object = value->getAsObject();
    if (!object || !object->getObject("files") || !object->getArray("programs"))
      return makeError(file + ": is no manifest of par: \"files\" or \"programs\" is missing");
    manifest = std::move(*object);
    return Error::success();
  }

  /// "program0" of program0.so, where it has device code.
  std::set<std::string> findPrograms() {
    std::set<std::string> stems;
    for (const json::Value &program : *manifest.getArray("programs"))
      if (const json::Object *object = program.getAsObject(); object && object->getArray("kernels"))
        stems.insert(llvm::sys::path::stem(object->getString("file").value_or("")).str());
    return stems;
  }

  /// A file as the manifest has it.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readChecked(const std::string &name) {
    auto bytes = read(name);
    std::optional<llvm::StringRef> hash = manifest.getObject("files")->getString(name);
    if (bytes && (!hash || *hash != hashBytes((*bytes)->getBuffer())))
      return makeError(getPath(name) +
                       ": is not the file that the manifest lists; compile the package again");
    return bytes;
  }

  /// The emulated kernels are those of the PTX: that is made of the very bytes which they are made of.
  Error addProgram(const std::string &stem) {
    auto bitcode = readChecked(stem + ".bc"), ptx = readChecked(stem + ".ptx");
    if (!bitcode || !ptx)
      return llvm::joinErrors(bitcode ? Error::success() : bitcode.takeError(),
                              ptx ? Error::success() : ptx.takeError());
    llvm::Expected<std::string> printed = printDeviceCode((*bitcode)->getMemBufferRef());
    if (!printed)
      return printed.takeError();
    if (*printed != (*ptx)->getBuffer())
      return makeError(getPath(stem + ".ptx") + ": was made by another par-compile than " + stem +
                       ".bc; compile the package again");
    llvm::SmallString<128> temporary;
    llvm::sys::fs::createUniquePath(getPath(stem + ".tmp-%%%%%%"), temporary, /*MakeAbsolute=*/false);
    added.emplace_back(temporary.str().str(), stem + ".emulated.so");
    if (Error error = writeEmulatedLibrary((*bitcode)->getMemBufferRef(), temporary))
      return makeError(path + ": " + llvm::toString(std::move(error)));
    auto library = llvm::MemoryBuffer::getFile(temporary);
    if (!library)
      return makeError(temporary + ": cannot be read: " + library.getError().message());
    (*manifest.getObject("files"))[added.back().second] = hashBytes((*library)->getBuffer());
    return Error::success();
  }

  /// The manifest last: until then the package is the older one, with a file more.
  Error finish() {
    for (auto &[temporary, name] : added)
      if (std::error_code code = llvm::sys::fs::rename(temporary, getPath(name)))
        return makeError(getPath(name) + ": cannot be written: " + code.message());
    std::string file = getPath("manifest.json");
    return replaceFile(file, sealManifest(manifest));
  }

  static Error replaceFile(const std::string &file, llvm::StringRef text) {
    return llvm::writeToOutput(file, [&](llvm::raw_ostream &stream) {
      stream << text;
      return Error::success();
    });
  }

  llvm::StringRef path;
  json::Object manifest;
  std::vector<std::pair<std::string, std::string>> added; ///< temporary files, and their names
};
} // namespace

Error mlir::par::emulatePackage(llvm::StringRef path) { return Emulation(path).run(); }

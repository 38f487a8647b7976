//===- EmulatePackage.cpp - kernels of a package on the host --------------------------------------===//
#include "par/Emit/EmulatePackage.h"
#include "par/Emit/Package.h"
#include "par/Support/JsonText.h"
#include "par/Support/MakeError.h"
#include "par/Support/OutputFile.h"
#include "par/Support/TemporaryFolder.h"
#include "par/Support/TextFile.h"
#include "par/Target/Emulation.h"
#include "par/io/EndingSignals.h"
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
    // Beside the package: a process that is killed leaves nothing in it.
    llvm::Expected<TemporaryFolder> made = TemporaryFolder::create(getFolder());
    if (!made)
      return makeError(path +
                       ": emulated kernels cannot be written beside it: " + llvm::toString(made.takeError()));
    folder.emplace(std::move(*made));
    Error error = Error::success();
    for (const std::string &stem : findPrograms())
      if (!error)
        error = addProgram(stem);
    if (!error && added.empty())
      error = makeError(path + ": has no kernels to emulate: its target is \"" +
                        manifest.getString("target").value_or("") + "\"; give a package of --target cuda");
    if (!error)
      error = finish();
    return error;
  }

private:
  /// Without slashes at its end, for a name beside it.
  std::string getFolder() const {
    llvm::StringRef folder = path.rtrim('/');
    return folder.empty() ? path.str() : folder.str();
  }

  std::string getPath(const llvm::Twine &name) const {
    llvm::SmallString<128> file(path);
    llvm::sys::path::append(file, name);
    return file.str().str();
  }

  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> read(const llvm::Twine &name) const {
    std::string file = getPath(name);
    llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> bytes =
        readTextFile(file, ::par::limits::manifestBytes);
    if (!bytes)
      return makeError(file + ": cannot be read: " + llvm::toString(bytes.takeError()));
    return bytes;
  }

  Error readManifest() {
    auto text = read("manifest.json");
    if (!text)
      return text.takeError();
    std::string file = getPath("manifest.json");
    llvm::Expected<json::Value> value = parseJson(file, (*text)->getBuffer(), "manifest of par");
    if (!value)
      return value.takeError();
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
    added.push_back(stem + ".emulated.so");
    std::string temporary = folder->getPath(added.back());
    if (Error error = writeEmulatedLibrary((*bitcode)->getMemBufferRef(), temporary))
      return makeError(path + ": " + llvm::toString(std::move(error)));
    auto library = llvm::MemoryBuffer::getFile(temporary);
    if (!library)
      return makeError(temporary + ": cannot be read: " + library.getError().message());
    (*manifest.getObject("files"))[added.back()] = hashBytes((*library)->getBuffer());
    return Error::success();
  }

  /// The manifest last: until then the package is the older one, with a file more, which a process that is
  /// killed in between leaves (PackageFolder.cpp knows its name).
  Error finish() {
    if (Error error = writeOutput(folder->getPath("manifest.json"), sealManifest(manifest)))
      return error;
    ::par::io::SignalsWait wait;
    for (const std::string &name : added)
      if (Error error = move(name))
        return error;
    return move("manifest.json");
  }

  Error move(const std::string &name) {
    std::error_code code = llvm::sys::fs::rename(folder->getPath(name), getPath(name));
    return code ? makeError(getPath(name) + ": cannot be written: " + code.message()) : Error::success();
  }

  llvm::StringRef path;
  json::Object manifest;
  std::optional<TemporaryFolder> folder;
  std::vector<std::string> added; ///< names of files
};
} // namespace

Error mlir::par::emulatePackage(llvm::StringRef path) { return Emulation(path).run(); }

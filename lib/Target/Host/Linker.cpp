//===- Linker.cpp - from object code to a shared library --------------------------------------------===//
#include "Linker.h"
#include "par/Support/MakeError.h"
#include "par/io/EndingSignals.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace mlir::par;

namespace {
/// What a child writes to standard error, in memory: a disk may be what is full.
class Complaints {
public:
  Complaints()
      : descriptor(memfd_create("complaints", 0)), path("/proc/self/fd/" + std::to_string(descriptor)) {}
  ~Complaints() { close(descriptor); }
  Complaints(const Complaints &) = delete;
  Complaints &operator=(const Complaints &) = delete;

  llvm::StringRef getPath() const { return path; }

  /// The linker's first error, without its name before it; nothing if it says none.
  std::string getFirstError() const {
    char text[1024];
    ssize_t size = pread(descriptor, text, sizeof text, 0);
    llvm::StringRef line = llvm::StringRef(text, std::max<ssize_t>(size, 0)).split('\n').first;
    return line.consume_front("ld.lld: error: ") ? line.str() : "";
  }

private:
  int descriptor;
  std::string path;
};
} // namespace

/// Signals that end a compilation are not the linker's, which a terminal sends them, too: it would fail while
/// the compilation goes on (nohup), or say so before the compilation ends. It ends by itself where its folder
/// is gone.
static llvm::sys::ProcessInfo start(llvm::StringRef linker, llvm::ArrayRef<llvm::StringRef> arguments,
                                    const Complaints &complaints, std::string &message) {
  ::par::io::SignalsWait wait;
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, std::nullopt, complaints.getPath()};
  return llvm::sys::ExecuteNoWait(linker, arguments, std::nullopt, redirects, 0, &message);
}

llvm::Error mlir::par::linkSharedLibrary(llvm::StringRef object, llvm::StringRef library,
                                         llvm::ArrayRef<llvm::StringRef> archives) {
  llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName("ld.lld-19");
  if (!linker)
    linker = llvm::sys::findProgramByName("ld.lld", {"/usr/lib/llvm-19/bin"});
  if (!linker)
    return makeError("ld.lld-19 was not found; install Debian's package lld-19");
  std::vector<llvm::StringRef> arguments = {*linker, "-shared", "--threads=1", "--build-id=none",
                                            "-o",    library,   object};
  if (!archives.empty())
    arguments.push_back("--exclude-libs=ALL");
  arguments.insert(arguments.end(), archives.begin(), archives.end());
  std::string message;
  Complaints complaints;
  llvm::sys::ProcessInfo process = start(*linker, arguments, complaints, message);
  if (process.Pid != llvm::sys::ProcessInfo::InvalidPid)
    process = llvm::sys::Wait(process, std::nullopt, &message);
  else
    return makeError("ld.lld-19 could not be started: " + message +
                     "; allow more processes (ulimit -u) or more memory");
  if (process.ReturnCode == 0)
    return llvm::Error::success();
  std::string why = complaints.getFirstError();
  // It writes through a mapping, which ends it where the disk is full.
  llvm::ErrorOr<llvm::sys::fs::space_info> space = llvm::sys::fs::disk_space(object);
  uint64_t size = 0;
  if (why.empty() && space && !llvm::sys::fs::file_size(object, size) && space->available < 2 * size)
    why = std::make_error_code(std::errc::no_space_on_device).message();
  for (const std::string &known : {why, message})
    if (!known.empty())
      return makeError("ld.lld-19 failed: " + known);
  return makeError("ld.lld-19 failed with exit code " + llvm::Twine(process.ReturnCode));
}

//===- OutputFile.cpp - files that appear whole or not at all -------------------------------------------===//
#include "par/Support/OutputFile.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/MakeError.h"
#include "par/io/Files.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>

using namespace llvm;

namespace mlir::par {

static Error failure(StringRef path, std::error_code code) {
  return createStringError(code, path + ": cannot be written: " + code.message());
}

/// Writes and reports what the stream would else report by aborting.
static std::error_code write(raw_fd_ostream &stream, StringRef text) {
  stream << text;
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

static std::error_code writeStandardOutput(StringRef text) {
  std::error_code code;
  raw_fd_ostream stream("-", code);
  return code ? code : write(stream, text);
}

/// A pipe that nobody reads is an error, not a wait.
static std::error_code writePipe(StringRef path, StringRef text) {
  int descriptor = open(path.str().c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0)
    return errno == ENXIO ? std::make_error_code(std::errc::broken_pipe)
                          : std::error_code(errno, std::generic_category());
  fcntl(descriptor, F_SETFL, 0);
  raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  return write(stream, text);
}

static Error writeDirectly(StringRef path, StringRef text) {
  std::error_code code = path == "-" ? writeStandardOutput(text) : writePipe(path, text);
  return code ? failure(path == "-" ? "standard output" : path, code) : Error::success();
}

Error writeOutput(StringRef path, StringRef text) {
  sys::fs::file_status status;
  bool exists = !sys::fs::status(path, status);
  // A pipe or device cannot be replaced by renaming.
  if (path == "-" || (exists && status.type() != sys::fs::file_type::regular_file &&
                      status.type() != sys::fs::file_type::directory_file))
    return writeDirectly(path, text);
  if (exists && status.type() == sys::fs::file_type::directory_file)
    return failure(path, std::make_error_code(std::errc::is_a_directory));
  // Its temporary file has no name where the system can do that, so that nothing of it is left.
  ::par::io::Status written = ::par::io::writeFile(path.str(), {text.data(), text.size()});
  return written.ok() ? Error::success() : makeError(written.message());
}

int finishOutput(int status) {
  outs().flush();
  std::error_code code = outs().error();
  if (!code)
    return status;
  outs().clear_error();
  printError("standard output cannot be written: " + code.message());
  return 1;
}

} // namespace mlir::par

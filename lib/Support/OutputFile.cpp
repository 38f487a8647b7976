//===- OutputFile.cpp - files that appear whole or not at all -------------------------------------------===//
#include "par/Support/OutputFile.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace mlir::par {

static Error failure(StringRef path, std::error_code code) {
  return createStringError(code, path + ": cannot write the file: " + code.message());
}

/// Writes and reports what the stream would else report by aborting.
static std::error_code write(raw_fd_ostream &stream, StringRef text) {
  stream << text;
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

static Error writeDirectly(StringRef path, StringRef text) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (!code)
    code = write(stream, text);
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
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(path + ".%%%%%%.tmp", 0666);
  if (!file)
    return failure(path, errorToErrorCode(file.takeError()));
  std::error_code code;
  {
    raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
    code = write(stream, text);
  }
  if (!code)
    code = errorToErrorCode(file->keep(path));
  else
    consumeError(file->discard());
  return code ? failure(path, code) : Error::success();
}

int finishOutput(int status) {
  outs().flush();
  std::error_code code = outs().error();
  if (!code)
    return status;
  outs().clear_error();
  errs() << "error: standard output cannot be written: " << code.message() << "\n";
  return 1;
}

} // namespace mlir::par

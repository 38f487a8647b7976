/// Files of text that are read whole: what configures something.
#ifndef PAR_IO_TEXTFILE_H
#define PAR_IO_TEXTFILE_H

#include "par/io/Status.h"

#include <cstddef>
#include <string>

namespace par::io {

/// The content of a regular file, or what comes from a pipe (`<(…)`) until its writers close it; a pipe to
/// which nobody writes is an error after some seconds. The error is the reason alone, without the path.
Status readText(const std::string &path, size_t mostBytes, std::string &content);

} // namespace par::io
#endif

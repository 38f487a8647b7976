/// JSON that somebody else wrote, before a parser reads it.
#ifndef PAR_IO_JSONTEXT_H
#define PAR_IO_JSONTEXT_H

#include "par/io/Status.h"

#include <string>
#include <string_view>

namespace par::io {

/// An error where brackets nest deeper than limits::jsonLevels: values are copied and printed by recursion.
Status checkDepth(const std::string &path, std::string_view json);

} // namespace par::io
#endif

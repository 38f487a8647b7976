/// What the bytes of a headerless file say about the width of its tokens.
#ifndef PAR_IO_TOKENCONTENTS_H
#define PAR_IO_TOKENCONTENTS_H

#include "par/io/TokenFile.h"

#include <string_view>

namespace par::io {

/// The type that tokens have by all appearances when they are not of the type `read`, which is uint16 or
/// uint32, else `read` itself. Certain types only: a file of few tokens, or of zeros, is what it is read as.
TokenType apparentType(std::string_view bytes, TokenType read, uint32_t vocabulary);

} // namespace par::io
#endif

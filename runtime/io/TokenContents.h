/// What the bytes of a headerless file say about the width of its tokens.
#ifndef PAR_IO_TOKENCONTENTS_H
#define PAR_IO_TOKENCONTENTS_H

#include "par/io/TokenFile.h"

#include <string_view>

namespace par::io {

/// The bits that tokens have by all appearances when they are not of the type `read`, which is uint16 or
/// uint32, else those of `read` itself. Certain widths only: a file of few tokens, or of zeros, is what it is
/// read as. So are tokens of 16 bits of which every second is 0: they are the same bytes as tokens of 32.
int apparentBits(std::string_view bytes, TokenType read, uint32_t vocabulary);

/// Whether the bytes are integers of 64 bits, which no type reads, so that whoever gives a type is wrong. Of
/// files that are mostly 0 it is not said.
bool areLongIntegers(std::string_view bytes);

} // namespace par::io
#endif

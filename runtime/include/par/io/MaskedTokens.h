/// par's own format of tokens of which some are no targets: `par-data --chat` writes it, `par-run` reads it.
#ifndef PAR_IO_MASKEDTOKENS_H
#define PAR_IO_MASKEDTOKENS_H

#include <cstdint>

namespace par::io {

/// The file begins with these bytes and the number of tokens (uint64); a uint32 per token follows, all
/// little-endian.
inline constexpr char maskedMagic[] = "PARMASK1";
/// The same with a conversation per row (--pack none): its first token has rowBit.
inline constexpr char rowsMagic[] = "PARROWS1";
inline constexpr int64_t maskedHeaderBytes = 16;
/// Set in a token that is no target.
inline constexpr uint32_t maskedBit = 1u << 31;
inline constexpr uint32_t rowBit = 1u << 30;

} // namespace par::io
#endif

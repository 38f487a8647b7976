/// SHA-256's compression of whole blocks of 64 bytes.
#ifndef PAR_IO_SHA256BLOCKS_H
#define PAR_IO_SHA256BLOCKS_H

#include <cstddef>
#include <cstdint>

namespace par::io {

using Sha256Blocks = void (*)(uint32_t state[8], const unsigned char *data, size_t blocks);

extern const uint32_t sha256Constants[64];

/// On any processor.
void sha256Portable(uint32_t state[8], const unsigned char *data, size_t blocks);

/// With the processor's instructions for it; null on one that has none.
Sha256Blocks sha256WithInstructions();

} // namespace par::io
#endif

//===- Bytes.h - sizes of memory as people write them -----------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_BYTES_H
#define PAR_SUPPORT_BYTES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

struct ByteUnit {
  llvm::StringLiteral name; ///< "bytes", "KiB", "MiB", ..
  int64_t bytes;
};

/// The largest unit of which `most` bytes are one at least.
ByteUnit findByteUnit(int64_t most);

/// 1536 -> "1.50 KiB".
std::string formatBytes(int64_t bytes);

/// Exact, and as people read it: 1536 -> "1536 bytes (1.50 KiB)".
std::string describeBytes(int64_t bytes);

/// "1536", "1.5KiB", "80 GiB", "2GB" (10^9), at least 1; the error says what is accepted.
llvm::Expected<int64_t> parseBytes(llvm::StringRef text);

} // namespace mlir::par

#endif // PAR_SUPPORT_BYTES_H

/// HMAC-SHA-256 (RFC 2104, FIPS 198-1): proofs of who knows a secret.
#ifndef PAR_IO_HMAC_H
#define PAR_IO_HMAC_H

#include <cstddef>
#include <string>
#include <string_view>

namespace par::io {

constexpr size_t hmacBytes = 32;

/// 32 bytes.
std::string hmacSha256(std::string_view key, std::string_view message);

/// Takes as long whatever the bytes are, so that time tells nothing about a proof that was expected.
bool equalInConstantTime(std::string_view a, std::string_view b);

/// From the kernel's generator.
std::string randomBytes(size_t count);

} // namespace par::io
#endif

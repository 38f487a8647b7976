/// Unicode normalization form C.
#ifndef PAR_TEXT_NORMALIZER_H
#define PAR_TEXT_NORMALIZER_H

#include "par/io/Status.h"

#include <string>
#include <string_view>

namespace par::text {

/// Sets `result` to the text in NFC: to `text` itself when it is in NFC already, which is usual, else to
/// `storage`.
io::Status toNfc(std::string_view text, std::string &storage, std::string_view &result);

} // namespace par::text
#endif

/// JSON whose objects name nothing twice: which of two values counts would depend on the reader.
#ifndef PAR_IO_PARSEJSON_H
#define PAR_IO_PARSEJSON_H

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace par::io {

/// The text as JSON, discarded where it is none. `twice` becomes a name that an object has twice, if there is
/// one.
nlohmann::json parseJson(std::string_view text, std::string &twice);

} // namespace par::io
#endif

/// Kinds of weights' files by what they are called.
#ifndef PAR_IO_OTHERKINDS_H
#define PAR_IO_OTHERKINDS_H

#include <string>
#include <string_view>

namespace par::io {

/// Endings are compared as file systems of other machines do: M.GGUF is one of .gguf.
bool endsInAnyCase(std::string_view text, std::string_view end);

/// "is ...; do ..." of a file whose ending only one kind of weights has, else nothing.
std::string kindByEnding(std::string_view name);

} // namespace par::io
#endif

/// Weights in forms that par does not read: what they are, and which program makes readable ones of them.
#ifndef PAR_IO_OTHERWEIGHTS_H
#define PAR_IO_OTHERWEIGHTS_H

#include <string>
#include <string_view>

namespace par::io {

/// "is ...; do ..." where the bytes at the beginning of a file show what it is in place of a safetensors
/// file, else nothing. `name` decides only where bytes do not.
std::string otherWeightsFile(const std::string &name, std::string_view begin);

/// "holds ...; do ..." of a folder that has no weights of safetensors for a whole model, else nothing.
std::string otherWeightsFolder(const std::string &folder);

/// The same of a folder that has no config of a model either.
std::string otherModelFolder(const std::string &folder);

/// Of an adapter for another model's weights, which Transformers would load in place of the weights beside
/// it.
std::string adapterOf(const std::string &folder);

} // namespace par::io
#endif

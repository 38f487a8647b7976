/// The index of a model whose weights lie in several files.
#ifndef PAR_IO_WEIGHTINDEX_H
#define PAR_IO_WEIGHTINDEX_H

#include "par/io/Status.h"

#include <map>
#include <string>

namespace par::io {

/// weight_map of model.safetensors.index.json: the file of each tensor, a name within the index's folder.
Status readWeightIndex(const std::string &path, std::map<std::string, std::string> &files);

} // namespace par::io
#endif

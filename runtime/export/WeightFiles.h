/// model.safetensors, or shards of it with an index.
#ifndef PAR_EXPORT_WEIGHTFILES_H
#define PAR_EXPORT_WEIGHTFILES_H

#include "export/ParameterSource.h"

namespace par::exporting {

/// Numbers of consecutive tensors per file: a new file begins where the one before would exceed `maxBytes`.
std::vector<size_t> planShards(const std::vector<io::NamedShape> &tensors, io::FileType type,
                               int64_t maxBytes);

/// Writes them into `folder`; `files` gets their names.
io::Status writeWeights(const std::string &folder, const ParameterSource &source,
                        const std::vector<io::FileTensor> &tensors, io::FileType type, int64_t maxBytes,
                        std::vector<std::string> &files);

} // namespace par::exporting
#endif

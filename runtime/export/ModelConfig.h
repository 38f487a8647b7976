/// The config.json of an exported model.
#ifndef PAR_EXPORT_MODELCONFIG_H
#define PAR_EXPORT_MODELCONFIG_H

#include "par/io/Safetensors.h"

#include <string>
#include <vector>

namespace par::exporting {

/// `content` is the config.json at `path`, `result` the exported one: every key is kept, the element type is
/// the exported one, and the class is that of `compiled`, the config.json of the package (empty: it has
/// none). A base model's folder may name the class without a head. Fails when the config does not describe a
/// model with these tensors.
io::Status makeConfig(const std::string &path, const std::string &content, const std::string &compiled,
                      const std::string &modelType, const std::vector<io::NamedShape> &tensors,
                      io::FileType type, std::string &result);

} // namespace par::exporting
#endif

/// Trained parameters, wherever they come from.
#ifndef PAR_EXPORT_PARAMETERSOURCE_H
#define PAR_EXPORT_PARAMETERSOURCE_H

#include "core/ParameterFiles.h"

#include <memory>
#include <string>
#include <vector>

namespace par::exporting {

class ParameterSource {
public:
  virtual ~ParameterSource() = default;
  /// A whole tensor in Hugging Face's layout.
  virtual io::Status read(const io::FileTensor &tensor, std::vector<float> &values) const = 0;
};

/// Opens a checkpoint of the package's model, a folder of checkpoints, or safetensors. Every wanted tensor is
/// there when it succeeds; `wanted` outlives the source. Throws rt::Error as well.
io::Status openParameters(const std::string &path, const rt::Manifest &manifest,
                          const rt::ParameterFiles &wanted, std::unique_ptr<ParameterSource> &source);

} // namespace par::exporting
#endif

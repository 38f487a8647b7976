//===- Parameters.h - the tensors of a model --------------------------------------------------*- C++ -*-===//

#ifndef PAR_IMPORT_PARAMETERS_H
#define PAR_IMPORT_PARAMETERS_H

#include "par/Dialect/Par/IR/ParAttributes.h"
#include "par/Import/ModelConfig.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::par {

/// One dimension of a logical shape. Names are those of the design: batch seq embed vocab heads kv_heads
/// group head_dim mlp, `qkv` (GPT-2's query, key and value) and `positions` (rows of a table of learned
/// positions).
struct Dimension {
  std::string name;
  int64_t size;
};

int64_t countElements(llvm::ArrayRef<Dimension> dims);

/// The rows of a file's tensor that a parameter is, where others have the rest.
struct JointRows {
  /// The module whose weight or bias the tensor is, such as `self_attn.qkv_proj`.
  std::string module;
  int64_t begin = 0;
  /// The whole tensor has so many.
  int64_t rows = 0;
};

/// A trainable tensor: logical shape and layout in a Hugging Face file, where
/// file tensor, or those rows of it = reshape(transpose(logical, permutation), fileShape).
struct Parameter {
  /// Name within its layer, such as `attn.c_attn.weight`.
  std::string local;
  /// Unique name in the graph: the layer's path and `local`, else that of the layer it is `shared` with.
  std::string symbol;
  std::vector<Dimension> dims;
  /// Name in `model.safetensors`, as `save_pretrained` writes it.
  std::string fileName;
  std::vector<int64_t> fileShape;
  std::optional<JointRows> joint;
  std::vector<int64_t> permutation;
  InitKind init = InitKind::Normal;
  /// Of `InitKind::Normal`.
  double standardDeviation = 0.0;
  /// The index of dimension 0 that begins as zeros.
  std::optional<int64_t> zeroRow;
  /// An earlier layer has this tensor.
  bool shared = false;

  int64_t elements() const { return countElements(dims); }
};

/// The parameters of a model by layer, in file order.
struct ModelParameters {
  std::vector<std::vector<Parameter>> layers;

  /// All of them in file order, without those that are shared.
  std::vector<const Parameter *> all() const &;
  /// They point into this object.
  std::vector<const Parameter *> all() && = delete;
  /// Number of elements, a tied tensor counted once.
  int64_t elements() const;
};

/// The parameters of `config`, which its layers' words declare. Element counts must fit in 63 bits, which
/// `loadModelConfig` has checked.
ModelParameters modelParameters(const ModelConfig &config);

} // namespace mlir::par

#endif // PAR_IMPORT_PARAMETERS_H

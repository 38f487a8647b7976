/// Pretrained weights: one safetensors file or a Hugging Face folder (one file, or shards with an index).
#ifndef PAR_IO_WEIGHTS_H
#define PAR_IO_WEIGHTS_H

#include "par/io/Safetensors.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace par::io {

class Weights {
public:
  /// FILE, or a folder with model.safetensors or model.safetensors.index.json. Where there is an index, its
  /// weight_map says which file counts for a tensor, model.safetensors being one of them at most. Weights in
  /// other forms are named, with what reads them.
  Status open(const std::string &path);

  /// Pairs every wanted tensor with one of the files, under its own name, without or with a leading
  /// "transformer.", "model." or "language_model.", and with what wrappers add ("_orig_mod.", "module."). An
  /// error: a missing tensor, another shape, no float type, a tensor that nobody wants. Buffers that are no
  /// weights (attn.bias, attn.masked_bias, rotary_emb.inv_freq) and the part that reads pictures are ignored;
  /// lm_head.weight of a tied head must equal the embedding.
  Status match(const std::vector<NamedShape> &wanted);

  /// What tells these weights from others, in one line: tensors, and a hash of their names, types, shapes and
  /// of the first bytes of each. After `match`.
  std::string summary() const;

  /// Reads elements of a wanted tensor, see SafetensorsReader::read. Safe from several threads.
  void read(const std::string &wanted, int64_t first, int64_t stride, int64_t count, float *out) const;
  /// The file and, in it, the tensor that a wanted one is read from, for messages.
  std::string placeOf(const std::string &wanted) const;

private:
  struct Place {
    const SafetensorsReader *file;
    const SafetensorsEntry *entry;
  };
  Status openFolder(const std::string &folder);
  Status openFile(const std::string &path, const SafetensorsReader *&file);
  Status openIndex(const std::string &folder);
  Status add(const SafetensorsReader &file, const SafetensorsEntry &entry);
  Status checkKind() const;
  Status takeWanted(const NamedShape &tensor, const std::vector<NamedShape> &wanted);
  std::string missing(const NamedShape &tensor, const std::vector<NamedShape> &wanted) const;
  Status checkTied(const Place &head) const;

  std::string source;
  std::vector<std::unique_ptr<SafetensorsReader>> files;
  std::map<std::string, Place> found;   ///< by plain name (WeightNames.h)
  std::map<std::string, Place> matched; ///< by wanted name
};

} // namespace par::io
#endif

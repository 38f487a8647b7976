/// What the files beside a tokenizer.json say about it.
#ifndef PAR_TEXT_MODELFOLDER_H
#define PAR_TEXT_MODELFOLDER_H

#include "text/Tokenizer.h"

#include <string>

namespace par::text {

/// A tokenizer, and the folder that it lies in.
struct ModelFolder {
  std::string folder, file;
  Tokenizer tokenizer;
  uint32_t vocabulary = 0; ///< ids of the model: config.json's vocab_size or the tokenizer's size, the larger

  /// `path` is a tokenizer.json or a folder with one.
  io::Status open(const std::string &path);
  /// The id of `token`, or of the end-of-sequence token when it is empty.
  io::Status findEos(const std::string &token, uint32_t &id) const;
};

} // namespace par::text
#endif

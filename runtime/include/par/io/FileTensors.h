/// The tensors of a model's files, and what of each every variable holds.
#ifndef PAR_IO_FILETENSORS_H
#define PAR_IO_FILETENSORS_H

#include "par/io/FilePlace.h"
#include "par/io/Safetensors.h"

namespace par::io {

struct PlacedVariable {
  std::string name;
  Shape shape;
  FilePlace place;
};

struct FileTensor {
  NamedShape tensor;
  struct Use {
    size_t variable; ///< number in the list
    TensorPart part;
  };
  std::vector<Use> uses; ///< by variables
};

/// Every tensor once, in the order of first mention. A variable that has another one's place is a replica of
/// it and holds nothing. An error: two variables give a tensor different shapes.
Status collectTensors(const std::vector<PlacedVariable> &variables, std::vector<FileTensor> &tensors);

/// An error when a tensor could not be written: an element of it is in no variable or in two.
Status checkComplete(const std::vector<PlacedVariable> &variables, const std::vector<FileTensor> &tensors);

std::vector<NamedShape> shapesOf(const std::vector<FileTensor> &tensors);

} // namespace par::io
#endif

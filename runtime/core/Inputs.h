/// The values that change per step, written into a rank's arena by readers.
#ifndef PAR_CORE_INPUTS_H
#define PAR_CORE_INPUTS_H

#include "core/InputReaders.h"

namespace par::rt {

/// Throws Error when the program reads an input that the runtime does not know or whose type or shape is not
/// the documented one.
void checkInputs(const Manifest &manifest);

class InputWriter {
public:
  InputWriter(const Manifest &manifest, const InputSources &sources, int rank);
  /// Writes every input of a step, counted from 1. Allocates nothing.
  void write(const Arenas &arenas, int64_t step);

private:
  std::vector<std::unique_ptr<InputReader>> readers;
};

/// SHA-256 of a step's windows as little-endian i32, the whole batch in order, and of the rows of open
/// inputs.
std::string hashOfStep(const Manifest &manifest, const InputSources &sources, int64_t step);

} // namespace par::rt
#endif

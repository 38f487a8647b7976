/// The values that change per step, written into a rank's arena.
#ifndef PAR_CORE_INPUTS_H
#define PAR_CORE_INPUTS_H

#include "core/Batch.h"
#include "core/Checkpoint.h"
#include "core/Manifest.h"
#include "core/Options.h"

namespace par::rt {

/// Throws Error when the program reads an input that the runtime does not know or whose type or shape is not
/// the documented one.
void checkInputs(const Manifest &manifest);

class InputWriter {
public:
  InputWriter(const Manifest &manifest, const RunOptions &options, const io::TokenData &data,
              const Start &start, int rank);
  /// Writes every input of a step, counted from 1. Allocates nothing.
  void write(const Arenas &arenas, int64_t step);

private:
  double lossScale(int64_t step) const;
  void writeScalar(const Arenas &arenas, const Input &input, int64_t step) const;

  const Manifest &manifest;
  const Program &program;
  const RunOptions &options;
  const io::TokenData &data;
  const Start &start;
  const io::LossWeights weights; ///< by the name of the input: the run's, else the package's
  BatchWriter batch;
};

/// SHA-256 of a step's windows as little-endian i32, the whole batch in order.
std::string hashOfStep(const Manifest &manifest, const io::TokenData &data, const Start &start, int64_t step);

} // namespace par::rt
#endif

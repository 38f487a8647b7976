/// Who fills the inputs of a rank's program: a class for each reader of par/Inputs.def.
#ifndef PAR_CORE_INPUTREADERS_H
#define PAR_CORE_INPUTREADERS_H

#include "core/Batch.h"
#include "core/Checkpoint.h"
#include "par/io/RowData.h"

namespace par::rt {

/// The sources that readers take values from.
struct InputSources {
  const RunOptions &options;
  const io::TokenData &tokens;
  const io::RowData &rows;
  const io::StepValues &values;
  const Start &start;
};

/// The inputs of a rank that one reader fills, and from where.
struct ReaderTask {
  const Manifest &manifest;
  InputSources sources;
  int rank;
  std::vector<const Input *> inputs;
};

class InputReader {
public:
  virtual ~InputReader() = default;
  /// Writes what the inputs are in a step, counted from 1. Allocates nothing.
  virtual void write(const Arenas &arenas, int64_t step) = 0;
};

/// Windows of tokens and their targets.
class WindowsReader : public InputReader {
public:
  explicit WindowsReader(const ReaderTask &task);
  void write(const Arenas &arenas, int64_t step) override;

private:
  const Manifest &manifest;
  const InputSources sources;
  BatchWriter batch;
};

/// Numbers of the run.
class RunReader : public InputReader {
public:
  explicit RunReader(const ReaderTask &task);
  void write(const Arenas &arenas, int64_t step) override;

private:
  double lossScale(int64_t step) const;
  void writeScalar(const Arenas &arenas, const Input &input, int64_t step) const;

  const ReaderTask task;
  const io::LossWeights weights; ///< by the name of the input: the run's, else the package's
};

/// A rank's part of a tensor, or of each row of one, copied out of the whole.
class PartOfTensor {
public:
  PartOfTensor(const Manifest &manifest, int rank, const Input &input, bool isOfRow);
  /// `part` is zero where it is padding.
  void copy(const unsigned char *whole, unsigned char *part) const;

  const Input *input;
  size_t number;     ///< among the inputs of its reader that the programs have
  int64_t begin = 0; ///< of a row, the first one that the rank has
  int64_t bytes = 0; ///< of the part

private:
  /// Bytes that follow each other in both.
  struct Run {
    int64_t to, from, bytes;
  };
  std::vector<Run> runs;
};

/// Rows of tensors of --data: row i where window i of tokens goes.
class RowsReader : public InputReader {
public:
  explicit RowsReader(const ReaderTask &task);
  void write(const Arenas &arenas, int64_t step) override;
  /// Rows first … end - 1 of `rows` in their order, one for each row of the batch; those beyond are zeros.
  void write(const Arenas &arenas, const io::RowData &rows, int64_t first, int64_t end);

private:
  const Manifest &manifest;
  const InputSources sources;
  std::vector<PartOfTensor> parts;
  std::vector<unsigned char> buffer; ///< a rank's part of a micro-batch, before it is copied to the device
};

/// Values of --input.
class ValueReader : public InputReader {
public:
  explicit ValueReader(const ReaderTask &task);
  void write(const Arenas &arenas, int64_t step) override;

private:
  const InputSources sources;
  std::vector<PartOfTensor> parts;
  std::vector<unsigned char> buffer;
};

/// The inputs of a rank's program that a reader fills.
std::vector<const Input *> ownInputs(const Manifest &manifest, int rank, const std::string &reader);
/// The same of all programs, each once.
std::vector<const Input *> inputsOf(const Manifest &manifest, const char *reader);
/// The same as files are searched for them.
std::vector<io::OpenInput> openInputsOf(const Manifest &manifest, const char *reader);

/// The names of readers, as a manifest has them.
namespace readers {
#define PAR_READER(symbol, name, serves) constexpr char symbol[] = #name;
#include "par/Inputs.def"
constexpr char None[] = "";
} // namespace readers

} // namespace par::rt
#endif

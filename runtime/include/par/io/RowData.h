/// Inputs with names of a graph's own, from safetensors files: a row of each tensor for a row of the batch,
/// or a whole tensor for every step.
#ifndef PAR_IO_ROWDATA_H
#define PAR_IO_ROWDATA_H

#include "par/io/Safetensors.h"

#include <memory>

namespace par::io {

/// An input as its graph declares it; `type` is f32, bf16, i32, i64 or i1.
struct OpenInput {
  std::string name, type;
  Shape shape; ///< its first dimension counts rows where rows are read
};

/// `"x" (f32 [4, 8])`
std::string toString(const OpenInput &input);
/// The names and types of some.
std::string toString(const std::vector<OpenInput> &inputs);

/// Bytes of an element; 0 for a type that no input has.
int64_t bytesOfInput(const std::string &type);
/// An element as a number; bytes need not be aligned.
double inputElement(const std::string &type, const unsigned char *bytes);

/// Tensors of which row i belongs to window i of tokens, or is one of the batch where there are no tokens.
/// Rows come in the order in which windows do (TokenData.h).
class RowData {
public:
  /// Finds every input in one of the files, each of which has one at least.
  Status open(const std::vector<std::string> &files, const std::vector<OpenInput> &inputs, bool shuffle,
              uint64_t seed);
  /// 0: nothing is open.
  int64_t rowCount() const { return rows; }
  /// Fails where rows and windows of tokens cannot belong together; windows without end number 0.
  Status checkWindows(int64_t windows) const;
  /// Elements of a row of an input, which is numbered as in `open`.
  int64_t rowElements(size_t input) const { return wanted[input].elements; }
  /// The row of an input that comes as row `number` of all that are read.
  const unsigned char *row(size_t input, int64_t number) const;
  /// A line that tells these rows from others.
  std::string summary() const;

private:
  struct Tensor {
    OpenInput input;
    const SafetensorsReader *file;
    const SafetensorsEntry *entry;
    int64_t elements; ///< of a row
  };
  Status find(const OpenInput &input);

  std::vector<std::unique_ptr<SafetensorsReader>> files;
  std::vector<Tensor> wanted;
  int64_t rows = 0;
  bool isShuffled = false;
  uint64_t seed = 0;
};

/// The values that --input NAME=VALUE|FILE.safetensors gives inputs that are the same in every step: bytes by
/// name.
class StepValues {
public:
  /// Every input once, and nothing else.
  Status open(const std::vector<std::string> &given, const std::vector<OpenInput> &inputs);
  /// The bytes of an input that is numbered as in `open`.
  const std::vector<unsigned char> &value(size_t input) const { return values[input]; }
  std::string summary() const;

private:
  Status take(const std::string &text, const std::vector<OpenInput> &inputs);

  std::vector<std::vector<unsigned char>> values;
  std::string words; ///< of the summary
};

} // namespace par::io
#endif

//===- OpenInputs.h - inputs with names of a graph's own, from files --------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_OPENINPUTS_H
#define PAR_INTERPRETER_OPENINPUTS_H

#include "mlir/IR/BuiltinOps.h"
#include "par/Interpreter/StepInterpreter.h"
#include "par/io/RowData.h"
#include "par/io/TokenData.h"

namespace mlir::par {

/// The open inputs of a graph or rank program, with what --data and --input say of them.
class OpenInputs {
public:
  explicit OpenInputs(ModuleOp module);

  /// An error where an input has no value, or a file or value no input.
  ::par::io::Status open(const ::par::io::DataOptions &data, const std::vector<std::string> &values,
                         uint64_t seed);
  /// Rows `first` … of the data, `batch` for each of the micro-batches, and the values of the step.
  void fill(TrainStep &step, int64_t first, int64_t batch, int64_t microBatches) const;
  /// Checks what RowData::checkWindows checks.
  ::par::io::Status checkWindows(int64_t windows) const { return rows.checkWindows(windows); }

private:
  void add(StringRef name, RankedTensorType type, StringRef reader);

  /// Inputs of one reader, in one order.
  struct List {
    std::vector<::par::io::OpenInput> inputs;
    std::vector<RankedTensorType> types;
  };
  List ofRows, ofValues;
  ::par::io::RowData rows;
  ::par::io::StepValues values;
};

} // namespace mlir::par

#endif // PAR_INTERPRETER_OPENINPUTS_H

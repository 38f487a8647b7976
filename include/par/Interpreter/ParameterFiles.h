//===- ParameterFiles.h - parameters from and to files ----------------------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_PARAMETERFILES_H
#define PAR_INTERPRETER_PARAMETERFILES_H

#include "par/Interpreter/StepInterpreter.h"
#include "par/io/Status.h"

namespace mlir::par {

/// Sets every parameter and master to its initial value (contract, item 7), rounded to f32 as the runtime
/// stores it.
void initialiseParameters(StepInterpreter &train, ModuleOp module, uint64_t seed);

/// Values of all parameters by name, of the masters where there are some.
std::map<std::string, Tensor> getParameters(StepInterpreter &train, ModuleOp module);

/// Sets every parameter and master from a safetensors file or a Hugging Face folder.
::par::io::Status loadParameters(StepInterpreter &train, ModuleOp module, const std::string &path);

/// Writes the values of variables as f32 in the file layout of their parameter (their own, or that of `of`),
/// a file name once.
::par::io::Status saveVariables(ModuleOp module, const std::map<std::string, Tensor> &values,
                                const std::string &path);

/// Writes one tensor as f32.
::par::io::Status saveTensor(StringRef name, const Tensor &value, const std::string &path);

} // namespace mlir::par

#endif // PAR_INTERPRETER_PARAMETERFILES_H

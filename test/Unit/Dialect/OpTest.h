//===- OpTest.h - checks that hold for every op of the graph ----------------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_DIALECT_OPTEST_H
#define PAR_TEST_UNIT_DIALECT_OPTEST_H

#include "par/Interpreter/Interpreter.h"
#include <gtest/gtest.h>
#include <random>

namespace mlir::par {

/// A module with one function @main of tensors. Float arguments are drawn from [low, high), integer ones from
/// [test.min, test.max) of the argument's attributes (default 0 and 4; i1: both values).
struct OpCase {
  const char *name;
  const char *text;
  double low = -1.0, high = 1.0;
};

inline void PrintTo(const OpCase &each, std::ostream *stream) { *stream << each.name; }
inline std::string getCaseName(const ::testing::TestParamInfo<OpCase> &info) { return info.param.name; }

/// The interpreter is the measure of everything: an op's derivative against finite differences, its
/// decomposition and its shards against its own meaning.
class OpTest : public ::testing::TestWithParam<OpCase> {
protected:
  OpTest();

  /// @main of the module; fails the test and gives null if the text is wrong.
  func::FuncOp parse(StringRef text);
  Tensors drawArguments(func::FuncOp function, double low, double high);
  Tensors evaluate(func::FuncOp function, const Tensors &arguments);
  /// Largest |a − b| / max(1, |b|) of all elements; infinities and NaNs must be equal.
  static double compare(const Tensors &actual, const Tensors &expected);

  /// @gradient(arguments, a cotangent per float result) -> the cotangents of the float arguments, by a plain
  /// sweep backwards.
  func::FuncOp buildGradient(func::FuncOp function);
  /// Derivatives of all float arguments against central differences, for random cotangents of all results.
  void checkGradient(const OpCase &each);
  /// Every op that decomposes against its meaning; at least one must.
  void checkDecomposition(const OpCase &each);
  /// The only op of @main (besides the return) on four ranks, for every way to split one or two of its
  /// factors.
  void checkShards(const OpCase &each);

  MLIRContext context;
  OwningOpRef<ModuleOp> module;

private:
  void checkSplit(func::FuncOp function, ArrayRef<SmallVector<StringAttr>> factorAxes,
                  const Tensors &arguments);
  func::FuncOp buildLocal(Operation *op, ArrayRef<SmallVector<StringAttr>> factorAxes);

  std::mt19937 random{1};
};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_DIALECT_OPTEST_H

//===- Interfaces.h - what a pass may ask of an op --------------------------------------------*- C++ -*-===//
#ifndef PAR_INTERFACES_INTERFACES_H
#define PAR_INTERFACES_INTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "par/Dialect/Par/IR/ParAttributes.h"
#include "par/Interfaces/Localizer.h"
#include "par/Interpreter/Tensor.h"
#include <optional>

namespace mlir::par {

/// How a local op becomes code; see KernelOpInterface.
enum class KernelKind { None, Elementwise, Primitive, Composite, Gemm, Attention, Collective, View };

/// Number of elements of all results: the default cost of an op.
double countResultElements(Operation *op);
/// Its kernel kind is elementwise.
bool isElementwise(Operation *op);
/// True for ops so cheap that they are run again rather than their results held or sent: constants,
/// elementwise maths and what says so itself.
bool isCheapToRecompute(Operation *op);
/// The operand has the factors of the first result, in their order: composite ops that are told a row's
/// statistics work an element at a time on such operands.
bool hasFactorsOfResult(Operation *op, unsigned operand);

} // namespace mlir::par

#include "par/Interfaces/Interfaces.h.inc"

#endif // PAR_INTERFACES_INTERFACES_H

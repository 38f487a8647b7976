//===- Interfaces.h - what a pass may ask of an op --------------------------------------------*- C++ -*-===//
#ifndef PAR_INTERFACES_INTERFACES_H
#define PAR_INTERFACES_INTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "par/Dialect/Par/IR/ParAttributes.h"
#include "par/Interfaces/Localizer.h"
#include "par/Interfaces/WorkKind.h"
#include "par/Interpreter/Tensor.h"
#include <optional>

namespace mlir::par {

class ElementBuilder;

/// The kinds of ops; see KernelOpInterface.
enum class OpClass {
  Opaque,      ///< nothing is known of it
  Annotation,  ///< states something of its operand, which is its result
  Elementwise, ///< an element is made of the operands' elements in its place; constants are, of none
  Placed,      ///< likewise, and of the number of the place (dropout)
  Index,       ///< an element follows from its index and the rank (iota)
  View,        ///< the same elements in the same order
  Permutes,    ///< dimensions change places
  Slices,      ///< a part of the operand
  Pads,        ///< the operand among zeros
  Joins,       ///< operands one after another
  Repeats,     ///< elements come again along new dimensions
  SelectsRows, ///< rows of an operand by number
  AddsRows,    ///< sums of rows of an operand by number; an AddsRowsOpInterface
  Reduction,   ///< over dimensions of its operand
  Contraction, ///< sums of products
  Composite,   ///< `decompose` says of which ops it is made
  Library,     ///< computed as a whole by a library or a kernel written by hand; a LibraryOpInterface
  Collective,  ///< ranks exchange data
};

/// How a local op becomes code; see KernelOpInterface.
enum class KernelKind { None, Elementwise, Primitive, Composite, Gemm, Library, Collective, View };

/// Opaque where the op does not say.
OpClass getOpClass(Operation *op);
/// How ops of a class become code.
KernelKind getKernelKind(OpClass opClass);
/// How an op becomes code; None where it does not say.
KernelKind getKernelKind(Operation *op);
/// True for classes of ops that do no more than move, number or map elements.
bool isCheapClass(OpClass opClass);
/// The default of KernelOpInterface::keepsSteps.
bool keepsStepsOfClass(Operation *op, int64_t step);
/// The element of an elementwise op: the op on elements of its operands, rounded to the result's type unless
/// it `isExact` as it is.
FailureOr<Value> emitElementwise(Operation *op, ElementBuilder &builder, ArrayRef<Value> index,
                                 bool isExact = false);

/// The trait of ops whose result is a choice; see ChosenOnce in Interfaces.td.
template <typename ConcreteType>
class ChosenOnce : public OpTrait::TraitBase<ConcreteType, ChosenOnce> {};

/// Number of elements of all results: the default cost of an op.
double countResultElements(Operation *op);
/// Its class is elementwise.
bool isElementwise(Operation *op);
/// A constant all elements of which are one number: what else is constant is data.
bool isSplatConstant(Operation *op);
/// False for what must not be computed twice: what has effects, or was chosen once.
bool mayComputeAgain(Operation *op);
/// True for ops so cheap that they are run again rather than their results held or sent: constants,
/// elementwise maths and what says so itself.
bool isCheapToRecompute(Operation *op);
/// The operand has the factors of the first result, in their order: composite ops that are told a row's
/// statistics work an element at a time on such operands.
bool hasFactorsOfResult(Operation *op, unsigned operand);

} // namespace mlir::par

#include "par/Interfaces/Interfaces.h.inc"

#endif // PAR_INTERFACES_INTERFACES_H

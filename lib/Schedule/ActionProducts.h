//===- ActionProducts.h - what actions make for others ----------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_SCHEDULE_ACTIONPRODUCTS_H
#define PAR_LIB_SCHEDULE_ACTIONPRODUCTS_H

#include "par/Schedule/Messages.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::par {

/// What an action makes that others wait for: of a chunk and a micro-batch, those from Gathered on of a
/// chunk, sums of a stage.
enum Product {
  Activation,
  InputGradient,
  WeightGradient,
  SendOfActivation,
  SentActivation,
  ReceiveOfActivation,
  ReceivedActivation,
  SendOfGradient,
  SentGradient,
  ReceiveOfGradient,
  ReceivedGradient,
  Gathered,
  Reduced,
  Normed,
  Updated,
  kProducts
};

/// Nothing for sums.
llvm::SmallVector<Product, 3> getProducts(ActionKind kind);
/// True for what a named schedule orders; completeStep adds the rest.
bool isOrdered(ActionKind kind);
/// True for what is done once per step, with no micro-batch.
bool isPerStep(ActionKind kind);
/// Whether the lists are well-formed: nothing missing, twice or on a wrong stage. `faults` gets what an error
/// is about.
llvm::Error checkActions(const PipelineSchedule &schedule, llvm::SmallVectorImpl<ActionPlace> &faults);
/// The kind of action that makes a product, for what is said of one that is missing.
ActionKind getMaker(Product product);

} // namespace mlir::par

#endif // PAR_LIB_SCHEDULE_ACTIONPRODUCTS_H

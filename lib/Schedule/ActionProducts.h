//===- ActionProducts.h - what actions make for others ----------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_SCHEDULE_ACTIONPRODUCTS_H
#define PAR_LIB_SCHEDULE_ACTIONPRODUCTS_H

#include "par/Schedule/Schedule.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::par {

/// What an action makes that others wait for: of a chunk and a micro-batch, those from Gathered on of a
/// chunk.
enum Product {
  Activation,
  InputGradient,
  WeightGradient,
  SentActivation,
  ReceivedActivation,
  SentGradient,
  ReceivedGradient,
  Gathered,
  Reduced,
  Normed,
  Updated,
  kProducts
};

/// Nothing for Eval and Logits.
llvm::SmallVector<Product, 3> getProducts(ActionKind kind);
/// True for what a named schedule orders; completeStep adds the rest.
bool isOrdered(ActionKind kind);
/// True for what is done once per step, with no micro-batch.
bool isPerStep(ActionKind kind);
/// The kind of action that makes a product, for what is said of one that is missing.
ActionKind getMaker(Product product);

} // namespace mlir::par

#endif // PAR_LIB_SCHEDULE_ACTIONPRODUCTS_H

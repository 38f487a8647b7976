//===- ActionProducts.cpp - what actions make for others ------------------------------------------------===//
#include "ActionProducts.h"

#include "par/Schedule/ActionKind.cpp.inc"

using namespace llvm;

namespace mlir::par {

SmallVector<Product, 3> getProducts(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return {Activation};
  case ActionKind::Backward:
    return {InputGradient, WeightGradient};
  case ActionKind::BackwardInput:
    return {InputGradient};
  case ActionKind::BackwardWeight:
    return {WeightGradient};
  case ActionKind::BackwardLast:
    return {InputGradient, WeightGradient, Reduced};
  case ActionKind::SendActivation:
    return {SentActivation};
  case ActionKind::ReceiveActivation:
    return {ReceivedActivation};
  case ActionKind::SendGradient:
    return {SentGradient};
  case ActionKind::ReceiveGradient:
    return {ReceivedGradient};
  case ActionKind::Gather:
    return {Gathered};
  case ActionKind::Reduce:
    return {Reduced};
  case ActionKind::Norm:
    return {Normed};
  case ActionKind::Update:
    return {Updated};
  case ActionKind::Eval:
  case ActionKind::Logits:
    break;
  }
  return {};
}

bool isOrdered(ActionKind kind) { return kind >= ActionKind::Forward && kind <= ActionKind::BackwardWeight; }

bool isPerStep(ActionKind kind) {
  return kind == ActionKind::Gather || kind == ActionKind::Reduce || kind == ActionKind::Norm ||
         kind == ActionKind::Update;
}

ActionKind getMaker(Product product) {
  static constexpr ActionKind makers[] = {ActionKind::Forward,
                                          ActionKind::BackwardInput,
                                          ActionKind::BackwardWeight,
                                          ActionKind::SendActivation,
                                          ActionKind::ReceiveActivation,
                                          ActionKind::SendGradient,
                                          ActionKind::ReceiveGradient,
                                          ActionKind::Gather,
                                          ActionKind::Reduce,
                                          ActionKind::Norm,
                                          ActionKind::Update};
  return makers[product];
}

} // namespace mlir::par

//===- ActionProducts.cpp - what actions make for others ------------------------------------------------===//
#include "ActionProducts.h"

#include "par/Schedule/ActionKind.cpp.inc"

using namespace llvm;

namespace mlir::par {

SmallVector<Product, 3> getProducts(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
  case ActionKind::Eval:
  case ActionKind::Logits:
    return {Activation};
  case ActionKind::Backward:
    return {InputGradient, WeightGradient};
  case ActionKind::BackwardInput:
    return {InputGradient};
  case ActionKind::BackwardWeight:
    return {WeightGradient};
  case ActionKind::BackwardLast:
    return {InputGradient, WeightGradient, Reduced};
  case ActionKind::BackwardWeightLast:
    return {WeightGradient, Reduced};
  case ActionKind::SendActivation:
    return {SendOfActivation};
  case ActionKind::SentActivation:
    return {SentActivation};
  case ActionKind::ReceiveActivation:
    return {ReceiveOfActivation};
  case ActionKind::ReceivedActivation:
    return {ReceivedActivation};
  case ActionKind::SendGradient:
    return {SendOfGradient};
  case ActionKind::SentGradient:
    return {SentGradient};
  case ActionKind::ReceiveGradient:
    return {ReceiveOfGradient};
  case ActionKind::ReceivedGradient:
    return {ReceivedGradient};
  case ActionKind::Gather:
    return {Gathered};
  case ActionKind::Reduce:
    return {Reduced};
  case ActionKind::Norm:
    return {Normed};
  case ActionKind::Update:
    return {Updated};
  case ActionKind::SumGradients:
  case ActionKind::SumSquares:
    break;
  }
  return {};
}

bool isOrdered(ActionKind kind) { return kind >= ActionKind::Forward && kind <= ActionKind::BackwardWeight; }

bool isPerStep(ActionKind kind) {
  return kind == ActionKind::Gather || kind == ActionKind::Reduce || kind == ActionKind::Norm ||
         kind == ActionKind::Update || isSum(kind);
}

ActionKind getMaker(Product product) {
  static constexpr ActionKind makers[] = {ActionKind::Forward,
                                          ActionKind::BackwardInput,
                                          ActionKind::BackwardWeight,
                                          ActionKind::SendActivation,
                                          ActionKind::SentActivation,
                                          ActionKind::ReceiveActivation,
                                          ActionKind::ReceivedActivation,
                                          ActionKind::SendGradient,
                                          ActionKind::SentGradient,
                                          ActionKind::ReceiveGradient,
                                          ActionKind::ReceivedGradient,
                                          ActionKind::Gather,
                                          ActionKind::Reduce,
                                          ActionKind::Norm,
                                          ActionKind::Update};
  return makers[product];
}

} // namespace mlir::par

//===- FeedForward.cpp - kinds of feed-forward ----------------------------------------------------------===//
#include "par/Import/FeedForward.h"
#include "par/Import/LayerBuilder.h"

using namespace mlir;
using namespace mlir::par;

static std::string nameOf(Activation activation) {
  switch (activation) {
  case Activation::GeluTanh:
    return "gelu_tanh";
  case Activation::Gelu:
    return "gelu";
  case Activation::Relu:
    return "relu";
  case Activation::Silu:
    return "silu";
  }
  llvm_unreachable("all activations have a name");
}

void par::describeFeedForward(KindDescription &kind, int64_t width, Activation activation, bool bias) {
  kind.number("intermediate_size", width);
  kind.number("hidden_act", nameOf(activation));
  kind.number("mlp_bias", bias);
}

Value GatedFeedForward::build(LayerBuilder &layer, Value x) const {
  layer.dimension('m', "mlp", width);
  auto map = [&](int64_t begin) {
    LinearMap result{bias};
    if (isJoint)
      result.joint = {"mlp.gate_up_proj", begin, 2 * width};
    return result;
  };
  Value gate = layer.linear("bse,me->bsm", x, "mlp.gate_proj", map(0));
  layer.setPlace("mlp.act_fn");
  gate = layer.activation(gate, activation);
  Value up = layer.linear("bse,me->bsm", x, "mlp.up_proj", map(width));
  layer.setPlace("mlp");
  return layer.linear("bsm,em->bse", layer.multiply(gate, up), "mlp.down_proj", {bias});
}

void GatedFeedForward::describe(KindDescription &kind) const {
  const auto &[width, activation, bias, isJoint] = *this;
  describeFeedForward(kind, width, activation, bias);
  kind.detail("gate_up_proj", isJoint);
}

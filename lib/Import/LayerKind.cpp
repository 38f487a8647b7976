//===- LayerKind.cpp - embedding, blocks and head in the words of layers --------------------------------===//
#include "par/Import/LayerBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

std::string KindDescription::Entry::getWord() const {
  if (!word.empty())
    return word;
  if (const bool *flag = std::get_if<bool>(&value))
    return (key + (*flag ? "_true" : "_false")).str();
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return (key + Twine(*integer)).str();
  if (const double *number = std::get_if<double>(&value))
    return key.str() + llvm::to_string(llvm::json::Value(*number));
  return (key + "_" + std::get<std::string>(value)).str();
}

const KindDescription::Entry *KindDescription::find(StringRef key) const {
  auto found = llvm::find_if(entries, [&](const Entry &entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

static std::string nameOf(Norm::Type type) {
  switch (type) {
  case Norm::Type::Rms:
    return "rms";
  case Norm::Type::Layer:
    return "layer";
  case Norm::Type::Standardize:
    return "standardize";
  }
  llvm_unreachable("all norms have a name");
}

void Norm::describe(KindDescription &kind) const {
  const auto &[type, epsilon, offset] = *this;
  kind.detail("norm", nameOf(type));
  kind.number("norm_eps", epsilon);
  if (offset != 0)
    kind.number("norm_offset", offset);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

Value EmbeddingLayer::build(LayerBuilder &layer, Value tokens) const {
  Value x = layer.embedding(tokens, table, "ve", paddingToken);
  if (!positions.empty())
    x = layer.add(x, layer.embedding(layer.positions(), positions, "pe"));
  x = layer.scale(x, scale);
  layer.setPlace("drop");
  return layer.dropout(x, dropout);
}

void EmbeddingLayer::describe(KindDescription &kind) const {
  const auto &[table, positions, paddingToken, scale, dropout] = *this;
  kind.detail("table", table);
  kind.detail("positions", positions);
  if (paddingToken)
    kind.number("pad_token_id", *paddingToken);
  if (scale != 1)
    kind.number("embedding_scale", scale);
  kind.detail("dropout", dropout);
}

/// `x` normalised by the module `name`, if there is one.
static Value normIfNamed(LayerBuilder &layer, Value x, StringRef name, const Norm &norm) {
  return name.empty() ? x : layer.norm(x, name, norm);
}

Value BlockLayer::build(LayerBuilder &layer, Value x) const {
  Value out = attention->build(layer, normIfNamed(layer, x, attentionNorm, norm));
  out = normIfNamed(layer, out, attentionOutputNorm, norm);
  x = layer.add(x, layer.dropout(out, dropout, DropoutSlot::AttentionOutput));
  out = feedForward->build(layer, normIfNamed(layer, x, feedForwardNorm, norm));
  out = normIfNamed(layer, out, feedForwardOutputNorm, norm);
  return layer.add(x, layer.dropout(out, dropout, DropoutSlot::Mlp));
}

void BlockLayer::describe(KindDescription &kind) const {
  const auto &[attentionNorm, feedForwardNorm, attentionOutputNorm, feedForwardOutputNorm, norm, attention,
               feedForward, dropout] = *this;
  kind.detail("attention_norm", attentionNorm);
  kind.detail("feed_forward_norm", feedForwardNorm);
  kind.detail("attention_output_norm", attentionOutputNorm);
  kind.detail("feed_forward_output_norm", feedForwardOutputNorm);
  norm.describe(kind);
  for (auto [key, part] : {std::pair(llvm::StringLiteral("attention"), &attention),
                           std::pair(llvm::StringLiteral("feed_forward"), &feedForward)}) {
    kind.detail(key, (*part)->getName().str(), (*part)->getName().str());
    (*part)->describe(kind);
  }
  kind.detail("residual_dropout", dropout);
}

Value HeadLayer::build(LayerBuilder &layer, Value x) const {
  x = layer.norm(x, normName, norm);
  if (tied)
    layer.shareTensor("lm_head.weight", table + ".weight");
  Value logits = layer.linear("bse,ve->bsv", x, "lm_head");
  return layer.output(layer.softCap(logits, cap));
}

void HeadLayer::describe(KindDescription &kind) const {
  const auto &[normName, norm, tied, table, cap] = *this;
  kind.detail("norm_name", normName);
  norm.describe(kind);
  kind.number("tie_word_embeddings", tied);
  kind.detail("table", table);
  if (cap != 0)
    kind.number("final_logit_softcapping", cap);
}

//===----------------------------------------------------------------------===//
// Lists of layers
//===----------------------------------------------------------------------===//

int64_t ModelConfig::countBlocks() const {
  return llvm::count_if(layers, [](const ModelLayer &layer) { return layer.number.has_value(); });
}

void ModelConfig::addBlock(SharedPart kind) {
  int64_t number = countBlocks();
  layers.push_back({std::move(kind), number, blocks + "." + std::to_string(number) + "."});
}

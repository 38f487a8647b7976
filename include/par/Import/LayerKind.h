//===- LayerKind.h - kinds of layers and their parts ------------------------------------------*- C++ -*-===//
// A model is a list of layers, each of a kind: the embedding, blocks, the head.
// A kind says what it computes in the words of LayerBuilder.h, and what decides
// that. Kinds of which the same is said are one function.

#ifndef PAR_IMPORT_LAYERKIND_H
#define PAR_IMPORT_LAYERKIND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mlir {
class Value;
}

namespace mlir::par {

class LayerBuilder;

/// All that decides what a layer computes, as a list of keys and values. It tells kinds apart, names their
/// functions, and is what `par.model` keeps of a layer (ModelNumbers.h).
class KindDescription {
public:
  using Datum = std::variant<bool, int64_t, double, std::string>;
  struct Entry {
    /// Lives as long as the program.
    llvm::StringRef key;
    Datum value;
    /// What functions that differ in it are named by, such as `window128`; empty: key and value.
    std::string word;
    /// It decides what parameters mean, which checkpoints ask for.
    bool isNumber;

    std::string getWord() const;
    bool operator==(const Entry &other) const { return key == other.key && value == other.value; }
  };

  /// Keys are those of Llama's config where it has one.
  void number(llvm::StringLiteral key, Datum value, std::string word = "") {
    entries.push_back({key, std::move(value), std::move(word), /*isNumber=*/true});
  }
  /// Follows from the model type, or leaves the meaning of parameters alone, as dropout does.
  void detail(llvm::StringLiteral key, Datum value, std::string word = "") {
    entries.push_back({key, std::move(value), std::move(word), /*isNumber=*/false});
  }

  llvm::ArrayRef<Entry> getEntries() const { return entries; }
  /// Null if nothing is said about `key`.
  const Entry *find(llvm::StringRef key) const;
  bool operator==(const KindDescription &other) const { return entries == other.entries; }

private:
  std::vector<Entry> entries;
};

/// A layer, or a part of one such as its attention. It is a value: layers of a model may share it.
///
/// `describe` begins by a structured binding to all members, so that none can be forgotten.
class LayerPart {
public:
  virtual ~LayerPart() = default;
  /// Tells classes apart; of a layer also the name of its function.
  virtual llvm::StringRef getName() const = 0;
  /// Of `x` [batch, seq, embed], or tokens [batch, seq]. The words used declare the tensors.
  virtual Value build(LayerBuilder &layer, Value x) const = 0;
  virtual void describe(KindDescription &kind) const = 0;
};

using SharedPart = std::shared_ptr<const LayerPart>;

/// `part` as one that layers can share.
template <typename T>
SharedPart share(const T &part) {
  return std::make_shared<const T>(part);
}

/// The norm of the last dimension before or behind attention and feed-forward, and before the head.
struct Norm {
  enum class Type {
    Rms,         ///< (weight + offset)·x / √(mean(x²) + eps)
    Layer,       ///< weight·(x − mean) / √(var + eps) + bias
    Standardize, ///< (x − mean) / √(var + eps)
  };
  Type type = Type::Rms;
  double epsilon = 1e-6;
  /// 1 where files hold weights less one (Gemma), which begin as zeros then.
  double offset = 0;

  void describe(KindDescription &kind) const;
};

/// Rows of a table, plus those of a table of learned positions if there is one.
class EmbeddingLayer : public LayerPart {
public:
  /// Modules of the tables. No name of positions: none are learned.
  std::string table = "embed_tokens", positions;
  /// The token whose row begins as zeros and gets no gradient from look-ups.
  std::optional<int64_t> paddingToken;
  /// Rows are multiplied by it, rounded to the table's type.
  double scale = 1;
  double dropout = 0;

  llvm::StringRef getName() const override { return "embed"; }
  Value build(LayerBuilder &layer, Value tokens) const override;
  void describe(KindDescription &kind) const override;
};

/// x + norm(attention(norm(x))), and the same of the feed-forward.
class BlockLayer : public LayerPart {
public:
  /// Modules of the norms before the branches, and behind them. No name: there is none.
  std::string attentionNorm = "input_layernorm", feedForwardNorm = "post_attention_layernorm";
  std::string attentionOutputNorm, feedForwardOutputNorm;
  Norm norm;
  SharedPart attention, feedForward;
  /// Of both branches.
  double dropout = 0;

  llvm::StringRef getName() const override { return "block"; }
  Value build(LayerBuilder &layer, Value x) const override;
  void describe(KindDescription &kind) const override;
};

/// Norm and logits, in training their loss.
class HeadLayer : public LayerPart {
public:
  std::string normName = "norm";
  Norm norm;
  /// It reads the table of tokens, which has this name, and has no matrix of its own.
  bool tied = false;
  std::string table = "embed_tokens";
  /// A logit z becomes cap · tanh(z / cap) before the loss; 0 = it stays.
  double cap = 0;

  llvm::StringRef getName() const override { return "head"; }
  Value build(LayerBuilder &layer, Value x) const override;
  void describe(KindDescription &kind) const override;
};

/// A layer of a model.
struct ModelLayer {
  SharedPart kind;
  /// The layer's number among the blocks, from 0; embedding and head have none.
  std::optional<int64_t> number;
  /// The prefix of its tensors' names, such as `layers.3.`.
  std::string path;
};

} // namespace mlir::par

#endif // PAR_IMPORT_LAYERKIND_H

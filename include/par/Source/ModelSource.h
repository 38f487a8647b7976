//===- ModelSource.h - where models come from -------------------------------------------------*- C++ -*-===//
// A model is given by a path. What can read it, a config or a graph of par's or what a plugin registered,
// gives the tools a module; none of them asks what kind of file it was.

#ifndef PAR_SOURCE_MODELSOURCE_H
#define PAR_SOURCE_MODELSOURCE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "par/Plan/Plan.h"

#include <functional>
#include <memory>

namespace mlir::par {

/// The user's decisions about a model, as far as its source leaves them open.
struct SourceOptions {
  std::string model;                  ///< its path, as it was given
  std::vector<std::string> overrides; ///< `key=value` each, of a config
  std::optional<int64_t> seq;         ///< tokens of a sequence; nothing: the source's default
  FloatKind dtype = FloatKind::F32;   ///< of parameters and activations
  DocumentsKind documents = DocumentsKind::Pack;
  bool logits = true; ///< also @logits, which is for evaluation and no part of a step
};

/// A model at a path.
class ModelSource {
public:
  virtual ~ModelSource() = default;

  /// Whether sizes and types are the file's own, and phases may have run: a graph. Else the options decide.
  virtual bool isGraph() const { return false; }
  /// Reads and checks the model, and completes `options.seq` where it is the user's. One error through
  /// `context` where that is impossible, or where an option says what the source cannot do.
  virtual LogicalResult read(MLIRContext &context, SourceOptions &options) = 0;
  /// The module, with `batch` sequences where that is open. Threads may call it at once, each with a context
  /// of its own. Null after one error.
  virtual OwningOpRef<ModuleOp> build(MLIRContext &context, int64_t batch) const = 0;
  /// The config that a package keeps for exports; empty: there is none.
  virtual std::string getConfig() const { return {}; }
};

/// A way to read models.
struct ModelFormat {
  std::function<bool(StringRef path)> reads; ///< by the path alone, which may be of nothing
  std::function<std::unique_ptr<ModelSource>()> make;
};

/// Adds a format, before tools read any model. The last one that reads a path is asked.
void registerModelFormat(ModelFormat format);

/// The source for a path. Of one that no format reads, a config, which says what is wrong.
std::unique_ptr<ModelSource> openModel(StringRef path);

} // namespace mlir::par

#endif // PAR_SOURCE_MODELSOURCE_H

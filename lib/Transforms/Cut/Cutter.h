//===- Cutter.h - writes the chunks of one function -------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_CUT_CUTTER_H
#define PAR_LIB_TRANSFORMS_CUT_CUTTER_H

#include "par/Transforms/Cut/Units.h"

namespace mlir::par {

/// Writes the functions of the chunks of a forward function, of an evaluation or of logits before it.
class Cutter {
public:
  /// `chunkOf` has the chunk of every op that is not reproducible; no op is of an earlier chunk than what it
  /// uses. `stageOf`: by chunk.
  Cutter(func::FuncOp function, const DenseSet<Value> &reproducible,
         const llvm::DenseMap<Operation *, int64_t> &chunkOf, ArrayRef<int64_t> stageOf)
      : function(function), reproducible(reproducible), chunkOf(chunkOf), stageOf(stageOf) {}

  /// The functions of the chunks up to the last one that computes anything. Names are `name`_0 and so on.
  SmallVector<func::FuncOp> run(StringRef name, SymbolTable &symbols);

private:
  /// A result of the function being written.
  struct Result {
    Value value;
    DictionaryAttr attributes;
  };

  void findLifetimes();
  int64_t getChunkOf(Value value) const { return chunkOf.lookup(value.getDefiningOp()); }
  func::FuncOp writeChunk(int64_t chunk, StringRef name);
  Value materialise(Value value, OpBuilder &builder);
  void materialiseUnread(OpBuilder &builder);
  SmallVector<Result> listResults(int64_t chunk);
  DictionaryAttr describeBoundary(Value value, int64_t number);

  func::FuncOp function;
  const DenseSet<Value> &reproducible;
  const llvm::DenseMap<Operation *, int64_t> &chunkOf;
  ArrayRef<int64_t> stageOf;
  int64_t last = 0;                           ///< chunk that is written
  SmallVector<SmallVector<Value>> boundaries; ///< by cut: what crosses it, by number

  DenseSet<Value> isRead; ///< arguments that some chunk has

  // The chunk that is written.
  Block *block = nullptr;
  IRMapping mapping;
  SmallVector<Value> arguments; ///< of the original, or a boundary value, per argument
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_CUT_CUTTER_H

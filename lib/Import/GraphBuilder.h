//===- GraphBuilder.h - variables, layer functions and chunk functions ------------------------*- C++ -*-===//
#ifndef PAR_LIB_IMPORT_GRAPHBUILDER_H
#define PAR_LIB_IMPORT_GRAPHBUILDER_H

#include "par/Dialect/Par/IR/Places.h"
#include "par/Import/Import.h"
#include "par/Import/LayerFunctions.h"

namespace mlir::par {

/// Writes the module of docs/IR.md, section 1: a `par.variable` per parameter, one private function per kind
/// of layer, and the functions `@forward` and `@logits` that call them.
class GraphBuilder {
public:
  GraphBuilder(MLIRContext &context, const ImportPlan &plan);
  OwningOpRef<ModuleOp> build(bool withLogits);

private:
  /// What an entry function passes on to layers.
  struct Entry {
    func::FuncOp function;
    /// Variable -> its argument.
    llvm::StringMap<Value> parameters;
    Value tokens;
    /// Null in `@logits`.
    Value targets;
    /// Null without dropout.
    Value key, row;
    /// Null where documents are not isolated.
    Value positions, documents;
  };

  void buildVariables();
  void buildVariable(const Parameter &parameter, RankedTensorType type);
  void buildEntry(Phase phase);
  Entry beginEntry(Phase phase);
  /// Gives each parameter the next argument and appends that argument's attributes.
  void bindParameters(Entry &entry, SmallVectorImpl<DictionaryAttr> &attributes);

  /// Applies a layer to `x` in an entry function; builds the layer's function if this is its first call.
  Value callLayer(Entry &entry, size_t layer, Value x);
  func::FuncOp layerFunction(StringRef name, const LayerFunction &layer, TypeRange types, bool training);
  /// Whether some layer drops elements.
  bool usesDropout(bool training) const;

  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element) const {
    return RankedTensorType::get(shape, element);
  }
  RankedTensorType parameterType(const Parameter &parameter);

  const ImportPlan &plan;
  LayerFunctions functions;
  ModelParameters parameters;
  /// Per parameter of `parameters.all()`: what each entry function says of its argument.
  struct Argument {
    const Parameter *parameter;
    RankedTensorType type;
    DictionaryAttr attributes;
  };
  SmallVector<Argument> arguments;
  OpBuilder builder;
  Location loc;
  OwningOpRef<ModuleOp> module;
  /// Layer functions by name; they stand before the first entry function.
  llvm::StringMap<func::FuncOp> built;
  func::FuncOp firstEntry;
};

} // namespace mlir::par

#endif // PAR_LIB_IMPORT_GRAPHBUILDER_H

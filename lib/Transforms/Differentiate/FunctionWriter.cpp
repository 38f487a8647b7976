//===- FunctionWriter.cpp - functions whose arguments are found while they are written ------------------===//
#include "FunctionWriter.h"

using namespace mlir;
using namespace mlir::par;

FunctionWriter::FunctionWriter(ModuleOp module, Location location, StringRef name)
    : builder(module.getContext()) {
  builder.setInsertionPointToEnd(module.getBody());
  function = builder.create<func::FuncOp>(location, name, builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

static DictionaryAttr makeAttributes(MLIRContext *context, PlaceAttr place, ShardingAttr sharding) {
  NamedAttrList attributes;
  if (place)
    attributes.append(ParDialect::kPlaceAttr, place);
  if (sharding)
    attributes.append(ParDialect::kShardingAttr, sharding);
  return attributes.getDictionary(context);
}

Value FunctionWriter::addArgument(Type type, PlaceAttr place, ShardingAttr sharding) {
  argumentAttributes.push_back(makeAttributes(builder.getContext(), place, sharding));
  return builder.getInsertionBlock()->addArgument(type, function.getLoc());
}

Value FunctionWriter::addArgument(VariableOp variable) {
  return addArgument(variable.getTensorType(), PlaceAttr::ofVariable(FlatSymbolRefAttr::get(variable)),
                     variable.getComputeAttr());
}

void FunctionWriter::addResult(Value value, PlaceAttr place, ShardingAttr sharding) {
  returned.push_back(value);
  resultAttributes.push_back(makeAttributes(builder.getContext(), place, sharding));
}

void FunctionWriter::addResult(VariableOp variable, Value value) {
  addResult(value, PlaceAttr::ofVariable(FlatSymbolRefAttr::get(variable)), variable.getComputeAttr());
}

func::FuncOp FunctionWriter::finish() {
  builder.create<func::ReturnOp>(function.getLoc(), returned);
  function.setFunctionType(builder.getFunctionType(builder.getInsertionBlock()->getArgumentTypes(),
                                                   ValueRange(returned).getTypes()));
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
  return function;
}

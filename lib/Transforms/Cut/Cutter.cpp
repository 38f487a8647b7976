//===- Cutter.cpp - writes the chunks of one function ---------------------------------------------------===//
#include "Cutter.h"

using namespace mlir;
using namespace mlir::par;

/// Which values cross which cut: those that a later chunk uses, up to the last one that does.
void Cutter::findLifetimes() {
  last = 0;
  for (Operation &op : function.front().without_terminator())
    if (auto chunk = chunkOf.find(&op); chunk != chunkOf.end())
      last = std::max(last, chunk->second);
  boundaries.assign(last, {});
  for (Operation &op : function.front().without_terminator()) {
    if (!chunkOf.contains(&op))
      continue;
    for (Value value : op.getResults()) {
      int64_t end = getChunkOf(value);
      // What is reproducible follows from arguments alone, so no user of this is.
      for (Operation *user : value.getUsers())
        if (auto chunk = chunkOf.find(user); chunk != chunkOf.end())
          end = std::max(end, chunk->second);
      for (int64_t cut = getChunkOf(value); cut < end; ++cut)
        boundaries[cut].push_back(value);
    }
  }
}

DictionaryAttr Cutter::describeBoundary(Value value, int64_t number) {
  NamedAttrList attributes;
  attributes.set(ParDialect::kPlaceAttr, PlaceAttr::ofBoundary(function.getContext(), number));
  if (ShardingAttr sharding = getSharding(value))
    attributes.set(ParDialect::kShardingAttr, sharding);
  return attributes.getDictionary(function.getContext());
}

/// The value in the chunk that is written: an argument, or computed again.
Value Cutter::materialise(Value value, OpBuilder &builder) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (isa<BlockArgument>(value)) {
    arguments.push_back(value);
    isRead.insert(value);
    Value argument = block->addArgument(value.getType(), value.getLoc());
    mapping.map(value, argument);
    return argument;
  }
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    materialise(operand, builder);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// A variable that no op reads is the last chunk's all the same: it has state, and a gradient of zeros.
void Cutter::materialiseUnread(OpBuilder &builder) {
  for (BlockArgument argument : function.getArguments())
    if (getVariable(argument) && !isRead.contains(argument))
      materialise(argument, builder);
}

/// The original's results that the chunk computes, then what crosses the cut behind it. What follows from
/// arguments alone is returned by the last chunk.
SmallVector<Cutter::Result> Cutter::listResults(int64_t chunk) {
  SmallVector<Result> results;
  for (OpOperand &returned : function.front().getTerminator()->getOpOperands()) {
    Value value = returned.get();
    if (chunk == (reproducible.contains(value) ? last : getChunkOf(value)))
      results.push_back({value, function.getResultAttrDict(returned.getOperandNumber())});
  }
  if (chunk < last)
    for (auto [number, value] : llvm::enumerate(boundaries[chunk]))
      results.push_back({value, describeBoundary(value, static_cast<int64_t>(number))});
  return results;
}

func::FuncOp Cutter::writeChunk(int64_t chunk, StringRef name) {
  Block body;
  block = &body;
  mapping.clear();
  arguments.clear();
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToEnd(block);
  // Received first: only what is not received is computed.
  SmallVector<Value> received = chunk ? boundaries[chunk - 1] : SmallVector<Value>();
  for (Value value : received)
    mapping.map(value, block->addArgument(value.getType(), value.getLoc()));
  for (Operation &op : function.front().without_terminator()) {
    auto found = chunkOf.find(&op);
    if (found == chunkOf.end() || found->second != chunk)
      continue;
    for (Value operand : op.getOperands())
      materialise(operand, builder);
    builder.clone(op, mapping);
  }
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
  if (chunk == last)
    materialiseUnread(builder);
  for (const Result &result : listResults(chunk)) {
    values.push_back(materialise(result.value, builder));
    resultAttributes.push_back(result.attributes ? result.attributes : builder.getDictionaryAttr({}));
  }
  builder.create<func::ReturnOp>(function.getLoc(), values);

  for (auto [number, value] : llvm::enumerate(received))
    argumentAttributes.push_back(describeBoundary(value, static_cast<int64_t>(number)));
  for (Value value : arguments) {
    DictionaryAttr attributes = function.getArgAttrDict(cast<BlockArgument>(value).getArgNumber());
    argumentAttributes.push_back(attributes ? attributes : builder.getDictionaryAttr({}));
  }
  builder.setInsertionPoint(function);
  auto written = builder.create<func::FuncOp>(
      function.getLoc(), name,
      builder.getFunctionType(body.getArgumentTypes(), ValueRange(values).getTypes()));
  written.setAllArgAttrs(argumentAttributes);
  written.setAllResultAttrs(resultAttributes);
  Block *entry = written.addEntryBlock();
  for (auto [from, to] : llvm::zip(body.getArguments(), entry->getArguments()))
    from.replaceAllUsesWith(to);
  entry->getOperations().splice(entry->end(), body.getOperations());
  setPhase(written, getPhase(function).getPhase(), chunk, stageOf[chunk]);
  block = nullptr;
  return written;
}

SmallVector<func::FuncOp> Cutter::run(StringRef name, SymbolTable &symbols) {
  findLifetimes();
  SmallVector<func::FuncOp> functions;
  for (int64_t chunk = 0; chunk <= last; ++chunk) {
    func::FuncOp written = writeChunk(chunk, (name + "_" + Twine(chunk)).str());
    written->remove();
    symbols.insert(written, Block::iterator(function));
    functions.push_back(written);
  }
  return functions;
}

//===- Interpreter.cpp - evaluates functions of the par dialect -----------------------------------------===//
#include "par/Interpreter/Interpreter.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Interpreter/Topology.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::par;

Interpreter::Interpreter(ModuleOp module, MeshAttr mesh)
    : module(module), mesh(mesh), numRanks(mesh ? mesh.getNumRanks() : 1), symbols(module) {}

func::FuncOp Interpreter::lookup(StringRef name) { return symbols.lookup<func::FuncOp>(name); }

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::checkArguments(func::FuncOp function, const std::vector<Tensors> &arguments) {
  if (function.isExternal() || !function.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(function.front().getTerminator()))
    return function.emitError("cannot interpret @") << function.getName() << ": expected a body of one block";
  if (static_cast<int64_t>(arguments.size()) != numRanks)
    return function.emitError("cannot interpret @")
           << function.getName() << ": arguments for " << arguments.size() << " ranks, the mesh has "
           << numRanks;
  for (auto [rank, tensors] : llvm::enumerate(arguments)) {
    if (tensors.size() != function.getNumArguments())
      return function.emitError("cannot interpret @")
             << function.getName() << ": " << tensors.size() << " arguments, expected "
             << function.getNumArguments();
    for (auto [number, tensor] : llvm::enumerate(tensors))
      if (tensor.type != function.getArgumentTypes()[number])
        return function.emitError("cannot interpret @")
               << function.getName() << ": argument " << number << " on rank " << rank << " is "
               << tensor.type << ", expected " << function.getArgumentTypes()[number];
  }
  return success();
}

FailureOr<std::vector<Tensors>> Interpreter::run(func::FuncOp function, std::vector<Tensors> arguments) {
  if (failed(checkArguments(function, arguments)))
    return failure();
  if (!active.insert(function).second)
    return function.emitError("cannot interpret @") << function.getName() << ": it calls itself";
  auto leave = llvm::make_scope_exit([&] { active.erase(function); });
  return run(function.getBody().front(), std::move(arguments));
}

FailureOr<std::vector<Tensors>> Interpreter::run(Block &block, std::vector<Tensors> arguments) {
  Frame frame;
  for (BlockArgument argument : block.getArguments())
    for (Tensors &tensors : arguments)
      frame[argument].push_back(std::move(tensors[argument.getArgNumber()]));
  for (Operation &op : block.without_terminator())
    if (failed(evaluate(op, frame)))
      return failure();
  return gatherOperands(*block.getTerminator(), frame);
}

FailureOr<Tensors> Interpreter::run(func::FuncOp function, Tensors arguments) {
  std::vector<Tensors> ranks;
  ranks.push_back(std::move(arguments));
  FailureOr<std::vector<Tensors>> results = run(function, std::move(ranks));
  if (failed(results))
    return failure();
  return std::move(results->front());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::vector<Tensors> Interpreter::gatherOperands(Operation &op, const Frame &frame) const {
  std::vector<Tensors> operands(numRanks);
  for (Value operand : op.getOperands())
    for (auto [rank, tensor] : llvm::enumerate(frame.find(operand)->second))
      operands[rank].push_back(tensor);
  return operands;
}

std::vector<Tensors> Interpreter::makeResults(Operation &op) const {
  Tensors results;
  for (Type type : op.getResultTypes())
    results.emplace_back(cast<RankedTensorType>(type));
  return std::vector<Tensors>(numRanks, results);
}

void Interpreter::store(Operation &op, std::vector<Tensors> results, Frame &frame) const {
  for (OpResult result : op.getResults()) {
    Tensors values;
    for (Tensors &tensors : results) {
      values.push_back(std::move(tensors[result.getResultNumber()]));
      if (rounding)
        values.back().round();
    }
    frame[result] = std::move(values);
  }
}

LogicalResult Interpreter::evaluate(Operation &op, Frame &frame) {
  for (Type type : op.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return op.emitOpError("cannot be interpreted: its result is ")
             << type << ", expected a tensor of static shape";
  }
  // Calls are how the interpreter moves between functions, not something an op can do by itself.
  if (auto call = dyn_cast<CallOp>(op))
    return call.getParts() == 1 ? evaluateCall(op, call.getCallee(), frame) : evaluateParts(call, frame);
  if (auto call = dyn_cast<func::CallOp>(op))
    return evaluateCall(op, call.getCallee(), frame);
  return isa<CollectiveOpInterface>(op) ? evaluateCollective(op, frame) : evaluateLocal(op, frame);
}

LogicalResult Interpreter::evaluateCall(Operation &op, StringRef callee, Frame &frame) {
  func::FuncOp function = lookup(callee);
  if (!function)
    return op.emitOpError("cannot be interpreted: @") << callee << " names no function of this module";
  FailureOr<std::vector<Tensors>> results = run(function, gatherOperands(op, frame));
  if (failed(results))
    return failure();
  store(op, std::move(*results), frame);
  return success();
}

/// The numbered part of a tensor, which is that of `type`: rows that follow each other in memory.
static Tensor takePart(const Tensor &whole, RankedTensorType type, int64_t part) {
  if (whole.type == type)
    return whole;
  Tensor taken(type);
  std::copy_n(whole.values.begin() + part * taken.size(), taken.size(), taken.values.begin());
  return taken;
}

LogicalResult Interpreter::evaluateParts(CallOp call, Frame &frame) {
  func::FuncOp function = lookup(call.getCallee());
  if (!function)
    return call.emitOpError("cannot be interpreted: @")
           << call.getCallee() << " names no function of this module";
  std::vector<Tensors> operands = gatherOperands(*call, frame), results = makeResults(*call);
  for (int64_t part = 0; part < static_cast<int64_t>(call.getParts()); ++part) {
    std::vector<Tensors> arguments(numRanks);
    for (auto [rank, tensors] : llvm::enumerate(operands))
      for (auto [tensor, type] : llvm::zip(tensors, function.getArgumentTypes()))
        arguments[rank].push_back(takePart(tensor, cast<RankedTensorType>(type), part));
    FailureOr<std::vector<Tensors>> made = run(function, std::move(arguments));
    if (failed(made))
      return failure();
    for (auto [rank, tensors] : llvm::enumerate(*made))
      for (auto [number, tensor] : llvm::enumerate(tensors)) {
        Tensor &result = results[rank][number];
        bool isWhole = result.type == tensor.type;
        std::copy(tensor.values.begin(), tensor.values.end(),
                  result.values.begin() + (isWhole ? 0 : part * tensor.size()));
        // What the next part goes on with.
        if (isWhole)
          operands[rank][*getAlias(function, number)] = result;
      }
  }
  store(*call, std::move(results), frame);
  return success();
}

LogicalResult Interpreter::evaluateCollective(Operation &op, Frame &frame) {
  auto collective = cast<CollectiveOpInterface>(op);
  if (!mesh)
    return op.emitOpError("cannot be interpreted on one rank without a mesh");
  std::vector<Tensors> operands = gatherOperands(op, frame), results = makeResults(op);
  for (ArrayRef<int64_t> group : getGroups(mesh, collective.getCollectiveAxes())) {
    SmallVector<ArrayRef<Tensor>> from;
    SmallVector<MutableArrayRef<Tensor>> to;
    for (int64_t rank : group) {
      from.push_back(operands[rank]);
      to.push_back(results[rank]);
    }
    if (failed(collective.interpretGroup(from, to)))
      return failure();
  }
  store(op, std::move(results), frame);
  return success();
}

LogicalResult Interpreter::evaluateLocal(Operation &op, Frame &frame) {
  auto interpretable = dyn_cast<InterpretableOpInterface>(op);
  if (!interpretable)
    return op.emitOpError("cannot be interpreted: it implements neither InterpretableOpInterface nor "
                          "CollectiveOpInterface");
  std::vector<Tensors> operands = gatherOperands(op, frame), results = makeResults(op);
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    InterpreterContext context;
    if (mesh)
      context.coordinate = [&](StringRef axis) { return getCoordinate(mesh, rank, axis); };
    if (failed(interpretable.interpret(operands[rank], results[rank], context)))
      return failure();
  }
  store(op, std::move(results), frame);
  return success();
}

//===- HoistConstants.cpp - what no input changes is computed once --------------------------------------===//
#include "ConstantValues.h"
#include "FreeOps.h"
#include "MarkDiagonals.h"
#include "par/Target/Target.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_HOISTCONSTANTS
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// The constants of one function that lie in memory, each once.
class FunctionConstants {
public:
  FunctionConstants(func::FuncOp function, const Callers &callers, const ConstantValues &constants)
      : function(function), callers(callers), constants(constants), builder(function.getContext()) {}

  /// Rotations by positions that are constant become rotations by tables, which are.
  void makeTables() {
    for (auto rotary : llvm::make_early_inc_range(function.getOps<RotaryOp>())) {
      if (!constants.contains(rotary.getPositions()))
        continue;
      builder.setInsertionPoint(rotary);
      // As the kernel computes them, whatever type it rotates.
      bool isWide = rotary.getType().getElementType().isF64();
      Type element = isWide ? builder.getF64Type() : builder.getF32Type();
      SmallVector<int64_t> shape(rotary.getPositions().getType().getShape());
      shape.push_back(static_cast<int64_t>(rotary.getFrequencies().size()));
      auto type = RankedTensorType::get(shape, element);
      auto tables = builder.create<RotaryTablesOp>(rotary.getLoc(), type, type, rotary.getPositions(),
                                                   rotary.getFrequencies(), rotary.getFactor());
      Value rotated =
          builder.create<RotateOp>(rotary.getLoc(), rotary.getType(), rotary.getInput(), tables.getCosines(),
                                   tables.getSines(), rotary.getTransposed());
      rotary.replaceAllUsesWith(rotated);
      rotary.erase();
    }
  }

  /// Calls `hoist` for every constant that has to lie in memory: once for each that differs, with an equal
  /// value that stands before all who read it. What it returns takes the place of the constant.
  void run(llvm::function_ref<Value(Value)> hoist) {
    for (Operation &op : llvm::make_early_inc_range(function.front()))
      for (OpOperand &use : op.getOpOperands()) {
        if (!isInMemory(use))
          continue;
        Value value = findEqual(use.get(), &op);
        auto [entry, isNew] = hoisted.try_emplace(value);
        if (isNew)
          entry->second = hoist(value);
        use.set(entry->second);
      }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

private:
  /// Read by a call or a library, or by a composite op, which would compute it again for every element
  /// that it looks at. All others compute what they need of it beside the rest.
  bool isInMemory(OpOperand &use) {
    Operation *owner = use.getOwner(), *producer = use.get().getDefiningOp();
    if (!producer || !isSmall(producer))
      return false;
    if (auto call = dyn_cast<par::CallOp>(owner))
      return !callers.isOverwritten(call, use.getOperandNumber()) && constants.contains(use.get());
    auto kernel = dyn_cast<KernelOpInterface>(owner);
    KernelKind kind = kernel ? kernel.getKernelKind() : KernelKind::None;
    if (kind == KernelKind::Composite)
      return !isFree(producer) && constants.contains(use.get()) && !constants.contains(owner->getResult(0));
    return kind == KernelKind::Library && constants.contains(use.get());
  }

  /// Vectors; and tables, which all heads and rows of a batch have in common. Others would take memory for a
  /// step that each reader has for a moment.
  static bool isSmall(Operation *producer) {
    return isa<RotaryTablesOp>(producer) ||
           cast<RankedTensorType>(producer->getResult(0).getType()).getRank() <= 1;
  }

  /// The first value of the function that is made as `value` is; made before `user` if there is none.
  Value findEqual(Value value, Operation *user) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return value;
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, findEqual(operand, user));
    builder.setInsertionPoint(user);
    Operation *copy = builder.clone(*op, mapping);
    auto isEqual = [&](Operation *known) {
      return OperationEquivalence::isEquivalentTo(known, copy, OperationEquivalence::exactValueMatch, nullptr,
                                                  OperationEquivalence::IgnoreLocations);
    };
    auto *found = llvm::find_if(distinct, isEqual);
    if (found != distinct.end()) {
      copy->erase();
      copy = *found;
    } else {
      distinct.push_back(copy);
    }
    return copy->getResult(cast<OpResult>(value).getResultNumber());
  }

  func::FuncOp function;
  const Callers &callers;
  const ConstantValues &constants;
  OpBuilder builder;
  SmallVector<Operation *> distinct;
  llvm::DenseMap<Value, Value> hoisted;
};

struct HoistConstants : par::impl::HoistConstantsBase<HoistConstants> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *target = getTarget(module);
    if (!target || !target->limits.keepsConstants)
      return;
    Callers callers(module);
    ConstantValues constants(callers);
    markDiagonals(callers, constants);
    for (func::FuncOp function : callers.getCalleesFirst()) {
      FunctionConstants own(function, callers, constants);
      own.makeTables();
      if (ArrayRef<par::CallOp> calls = callers.getCalls(function); !getPhase(function) && !calls.empty())
        own.run([&](Value value) { return takeFromCallers(function, calls, value); });
    }
    // A step first: what it has, evaluations share.
    for (bool isEvaluated : {false, true})
      for (auto function : module.getOps<func::FuncOp>())
        if (PhaseAttr phase = getPhase(function);
            phase && !function.isExternal() && isEvaluation(phase.getPhase()) == isEvaluated)
          FunctionConstants(function, callers, constants).run([&](Value value) {
            return keep(function, value);
          });
  }

  /// An argument that every call is given; what makes it moves there.
  static Value takeFromCallers(func::FuncOp function, ArrayRef<par::CallOp> calls, Value value) {
    unsigned number = function.getNumArguments();
    for (par::CallOp call : calls) {
      OpBuilder builder(call);
      IRMapping mapping;
      mapping.map(function.getArguments(), call.getInputs());
      call.getInputsMutable().append(ConstantValues::copy(value, builder, mapping));
    }
    function.insertArgument(number, value.getType(), nullptr, value.getLoc());
    return function.getArgument(number);
  }

  /// A constant of the program where the runtime can write it, else computed here, once per call.
  Value keep(func::FuncOp function, Value value) {
    std::optional<Sequence> sequence = findSequence(value);
    if (!sequence)
      return value;
    PlaceAttr place = PlaceAttr::ofConstant(sequence->first, sequence->step);
    // All schedules share what the first one has.
    auto &ofStage = written[getStage(function)];
    if (!isEvaluation(getPhase(function).getPhase()))
      ofStage.insert({place, value.getType()});
    else if (!ofStage.contains({place, value.getType()}))
      return value;
    for (BlockArgument known : function.getArguments())
      if (getPlace(function, known.getArgNumber()) == place && known.getType() == value.getType())
        return known;
    unsigned number = function.getNumArguments();
    function.insertArgument(number, value.getType(), nullptr, value.getLoc());
    setPlace(function, number, place);
    return function.getArgument(number);
  }

  std::map<int64_t, llvm::DenseSet<std::pair<Attribute, Type>>> written; ///< by stage
};
} // namespace

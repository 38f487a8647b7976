//===- FreezeParameters.cpp - parameters that are not trained -------------------------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Support/NamePatterns.h"
#include "par/Transforms/Annotate/Passes.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::par {
#define GEN_PASS_DEF_FREEZEPARAMETERS
#include "par/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {

/// Gives calls whose operands depend on trained parameters in different ways functions of their own.
class LayerSpecializer {
public:
  explicit LayerSpecializer(ModuleOp module) : module(module), symbols(module) {}
  void run();

private:
  using Flags = SmallVector<bool>;
  void visit(func::FuncOp function, ArrayRef<bool> varied);
  void visitCall(CallOp call, ArrayRef<bool> varied);

  ModuleOp module;
  SymbolTable symbols;
  std::map<std::pair<std::string, Flags>, FlatSymbolRefAttr> versions; ///< by the original's name
  llvm::StringMap<std::string> originals;                              ///< of versions
};

} // namespace

void LayerSpecializer::run() {
  SmallVector<func::FuncOp> roots;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate())
      roots.push_back(function);
  for (func::FuncOp root : roots) {
    Flags varied;
    for (BlockArgument argument : root.getArguments()) {
      FlatSymbolRefAttr bind = getVariable(argument);
      auto variable = bind ? symbols.lookup<VariableOp>(bind.getAttr()) : nullptr;
      varied.push_back(variable && variable.isTrained());
    }
    visit(root, varied);
  }
}

void LayerSpecializer::visit(func::FuncOp function, ArrayRef<bool> varied) {
  llvm::DenseSet<Value> dependent;
  for (auto [flag, argument] : llvm::zip(varied, function.getArguments()))
    if (flag)
      dependent.insert(argument);
  for (Operation &op : function.front()) {
    Flags flags;
    for (Value operand : op.getOperands())
      flags.push_back(dependent.contains(operand));
    if (auto call = dyn_cast<CallOp>(op))
      visitCall(call, flags);
    if (llvm::is_contained(flags, true))
      dependent.insert(op.result_begin(), op.result_end());
  }
}

/// The first way in which a layer is called keeps its function.
void LayerSpecializer::visitCall(CallOp call, ArrayRef<bool> varied) {
  StringRef name = call.getCallee();
  auto [original, isFirst] = originals.try_emplace(name, name);
  auto [version, isNew] = versions.try_emplace({original->second, Flags(varied)});
  if (isNew && isFirst) {
    version->second = call.getCalleeAttr();
  } else if (isNew) {
    func::FuncOp clone = symbols.lookup<func::FuncOp>(name).clone();
    symbols.insert(clone);
    originals[clone.getSymName()] = original->second;
    version->second = FlatSymbolRefAttr::get(clone.getSymNameAttr());
  }
  FlatSymbolRefAttr target = version->second;
  call.setCalleeAttr(target);
  if (isNew)
    visit(symbols.lookup<func::FuncOp>(target.getValue()), varied);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FreezeParameters : par::impl::FreezeParametersBase<FreezeParameters> {
  using FreezeParametersBase::FreezeParametersBase;

  void runOnOperation() override {
    if (patterns.empty())
      return;
    std::vector<std::string> texts(patterns.begin(), patterns.end());
    llvm::Expected<NamePatterns> parsed = NamePatterns::parse(texts);
    if (!parsed)
      return fail(llvm::toString(parsed.takeError()));
    SmallVector<VariableOp> parameters;
    SmallVector<StringRef> names;
    for (auto variable : getOperation().getOps<VariableOp>())
      if (variable.getRole() == Role::Parameter) {
        parameters.push_back(variable);
        names.push_back(variable.getModelName());
      }
    if (std::string idle = parsed->findIdle(names); !idle.empty())
      return fail("no parameter's name is like '" + idle + "'" +
                  (names.empty() ? "" : "; the first one is " + names.front().str()));
    if (llvm::all_of(names, [&](StringRef name) { return parsed->match(name); }))
      return fail("all parameters are frozen, so there is nothing to train; leave one out");
    for (auto [parameter, name] : llvm::zip(parameters, names))
      if (parsed->match(name))
        parameter->setAttr(ParDialect::kFrozenAttr, UnitAttr::get(&getContext()));
    LayerSpecializer(getOperation()).run();
  }

  void fail(const Twine &problem) {
    getOperation().emitError("par-freeze-parameters: ") << problem;
    signalPassFailure();
  }
};
} // namespace

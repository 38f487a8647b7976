//===- CheckNames.cpp - patterns of a plan against a model's parameters ---------------------------------===//
#include "par/Compile/CheckNames.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Support/NamePatterns.h"

using namespace mlir;
using namespace mlir::par;

/// As the model's files name them.
static SmallVector<StringRef> getParameters(ModuleOp module) {
  SmallVector<StringRef> names;
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getRole() == Role::Parameter)
      names.push_back(variable.getModelName());
  return names;
}

/// `what`: "parameter", or "trained parameter".
static llvm::Error checkPatterns(const NamePatterns &patterns, ArrayRef<StringRef> names, StringRef field,
                                 StringRef what, const PlanWords &words, StringRef model) {
  std::string idle = patterns.findIdle(names);
  if (idle.empty())
    return llvm::Error::success();
  return words.error(words.name(field) + " '" + idle + "': no " + what + " of " + model +
                     " has a name like that" +
                     (names.empty() ? "" : "; the first one is " + names.front() + ", and * is any text"));
}

llvm::Error par::checkNames(ModuleOp module, const Plan &plan, const PlanWords &words, StringRef model) {
  SmallVector<StringRef> names = getParameters(module);
  llvm::Expected<NamePatterns> frozen = NamePatterns::parse(plan.freeze);
  if (!frozen)
    return frozen.takeError();
  if (llvm::Error error = checkPatterns(*frozen, names, "freeze", "parameter", words, model))
    return error;
  const SmallVector<StringRef> all = names;
  llvm::erase_if(names, [&](StringRef name) { return frozen->match(name); });
  if (names.empty() && !frozen->empty())
    return words.error(words.name("freeze") + ": all parameters of " + model +
                       " are frozen, so there is nothing to train; leave one out");
  llvm::Expected<NamePatterns> decaying = NamePatterns::parse(plan.weightDecayOn);
  if (!decaying)
    return decaying.takeError();
  // A pattern of frozen parameters is no typing error.
  std::string idle = decaying->findIdle(names);
  if (llvm::Expected<NamePatterns> only = NamePatterns::parse({idle}); !idle.empty() && only)
    if (size_t count = llvm::count_if(all, [&](StringRef name) { return only->match(name); }))
      return words.error(words.name("weight_decay_on") + " '" + idle + "': all that it names are frozen (" +
                         Twine(count) + (count == 1 ? " parameter" : " parameters") + " of " + model +
                         "), and what is frozen does not decay; leave it out, or freeze less");
  return checkPatterns(*decaying, names, "weight_decay_on", "trained parameter", words, model);
}

//===- GraphInput.cpp - what a given graph must be ------------------------------------------------------===//
#include "GraphInput.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/GraphState.h"
#include "par/Compile/PlanFlags.h"
#include "par/Cost/ModelFlops.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Import/ModelNumbers.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace mlir::par;
using llvm::Error;

namespace {
class GraphInput {
public:
  GraphInput(ModuleOp module, CompileOptions &options)
      : module(module), options(options), plan(options.plan), planned(getPlan(module)) {}

  Error take() {
    if (!options.overrides.empty())
      return makeError("--set changes a config; " + options.model + " is a graph");
    for (auto step : {&GraphInput::takeMesh, &GraphInput::checkNotDone, &GraphInput::checkDone,
                      &GraphInput::takeDecisions, &GraphInput::takeType, &GraphInput::takeDocuments,
                      &GraphInput::takeSizes, &GraphInput::checkInputs})
      if (Error error = (this->*step)())
        return error;
    return Error::success();
  }

private:
  //===--------------------------------------------------------------------===//
  // State
  //===--------------------------------------------------------------------===//

  /// What is done must not be done again: which phase goes on with the graph.
  Error checkNotDone() {
    if (!module.getOps<rank::ScheduleOp>().empty())
      return makeError(options.model +
                       ": the graph is lowered already, and no --from goes on with that; give "
                       "what --save-ir wrote before lower");
    auto begin = [&](CompilePhase least, StringRef state, CompilePhase next) {
      return options.first >= least ? Error::success()
                                    : makeError(options.model + ": the graph " + state +
                                                " already; go on with --from " + getName(next));
    };
    if (isOverlapped(module))
      return begin(CompilePhase::Lower, "is overlapped", CompilePhase::Lower);
    bool overlaps = plan.overlap || (planned && planned.getPlan().overlap);
    if (isPartitioned(module))
      return begin(CompilePhase::Overlap, "is partitioned",
                   overlaps ? CompilePhase::Overlap : CompilePhase::Lower);
    if (isDifferentiated(module))
      return begin(CompilePhase::Partition, "is differentiated", CompilePhase::Partition);
    if (isCut(module))
      return begin(CompilePhase::Differentiate, "is cut", CompilePhase::Differentiate);
    if (getMesh(module))
      return begin(CompilePhase::Propagate, "has a mesh",
                   !isPropagated(module)    ? CompilePhase::Propagate
                   : plan.countStages() > 1 ? CompilePhase::Cut
                                            : CompilePhase::Differentiate);
    return Error::success();
  }

  /// What `--from` begins with must have been done up to there.
  Error checkDone() {
    if (options.first > CompilePhase::Cut && plan.countStages() > 1 && !isCut(module))
      return makeError(options.model + ": --from " + options.from +
                       " with pp=" + llvm::Twine(plan.countStages()) +
                       ", but the graph is not cut into chunks; begin with --from cut");
    if (options.first < CompilePhase::Overlap)
      return Error::success();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(ParDialect::kLocalAttr))
        return makeError(options.model + ": --from " + options.from + ", but @" + function.getSymName() +
                         " is not partitioned; begin with --from partition");
    bool skipped = planned && planned.getPlan().overlap && planned.getAfter() < CompilePhase::Overlap;
    if (options.first == CompilePhase::Lower && skipped && !isOverlapped(module))
      return makeError(options.model + ": --from lower, but the graph's plan has overlap, and it did not go "
                                       "through that phase; begin with --from overlap --overlap on");
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // The graph's plan
  //===--------------------------------------------------------------------===//

  /// A graph that has a mesh already must have the one that is asked for.
  Error takeMesh() {
    bool isFree = options.first > CompilePhase::Annotate && options.planFile.empty() && !options.has("mesh");
    if (isFree && planned)
      plan.mesh = planned.getPlan().mesh;
    MeshAttr mesh = getMesh(module);
    if (!mesh)
      return Error::success();
    std::map<std::string, int64_t> sizes;
    for (StringAttr name : mesh.getNames()) {
      std::string axis = getUserAxis(name.getValue()).str();
      if (!isGivenAxis(axis))
        return makeError(options.model + ": the graph's mesh has the axis \"" + axis + "\", expected " +
                         listAxisNames());
      sizes[axis] = (sizes.count(axis) ? sizes[axis] : 1) * mesh.getSize(name.getValue());
    }
    bool same =
        llvm::all_of(sizes, [&](auto &axis) { return plan.getAxis(axis.first) == axis.second; }) &&
        llvm::all_of(plan.mesh, [&](auto &axis) { return axis.second == 1 || sizes.count(axis.first); });
    if (same)
      return Error::success();
    NamedAxes axes(sizes.begin(), sizes.end());
    std::string problem = options.model + ": the graph is on the mesh " + printMesh(axes);
    return makeError(canDivide(axes)
                         ? problem + "; give --mesh " + printMesh(axes)
                         : problem + ", which no --mesh gives yet; say in par.plan how it was "
                                     "annotated (docs/Package.md), and go on with --from propagate");
  }

  /// What earlier phases were told, nobody can change any more.
  Error takeDecisions() {
    if (options.first <= CompilePhase::Annotate)
      return Error::success();
    if (!planned)
      return options.planFile.empty()
                 ? makeError(options.model +
                             ": the graph does not say how it was annotated; add the attribute par.plan = "
                             "#par.plan<...> to the module (docs/Package.md), or give --plan FILE")
                 : Error::success();
    if (Error error = takeMicroBatches())
      return error;
    std::string differs;
    visitFields(
        [&](const PlanField &field, auto &target, const auto &decided) {
          if (field.phase == CompilePhase::Import || field.phase >= options.first || field.name == "mesh")
            return;
          if (!options.planFile.empty() && target != decided && differs.empty())
            differs = options.getWords().value(plan, field.name) + ", but the graph went through the phase " +
                      getName(field.phase).str() + " with " +
                      PlanWords("graph").value(planned.getPlan(), field.name) + "; begin with --from " +
                      getName(field.phase).str();
          target = decided;
        },
        plan, planned.getPlan());
    return differs.empty() ? checkGathers() : options.getWords().error(differs);
  }

  Error takeMicroBatches() {
    int64_t decided = planned.getPlan().microBatches;
    if (options.planFile.empty() && !options.has("micro-batches"))
      plan.microBatches = decided;
    if (options.first == CompilePhase::Lower && planned.getPlan().overlap && plan.microBatches != decided)
      return options.getWords().error(options.getWords().value(plan, "micro_batches") +
                                      ": the graph went through the phase overlap with " +
                                      llvm::Twine(decided) + "; begin with --from overlap");
    return Error::success();
  }

  /// What is to be gathered once must be stored in parts.
  Error checkGathers() {
    if (plan.zero3Gather != GatherTime::PerStep || plan.zero == 3 ||
        options.first > CompilePhase::Differentiate)
      return Error::success();
    if (plan.countRanks() > 1)
      return makeError(options.model +
                       ": --zero3-gather per-step says when ZeRO-3 gathers parameters, but the graph stores "
                       "each of them whole; annotate it with --zero 3 or leave it out");
    plan.zero3Gather = GatherTime::PerMicroBatch;
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // Types
  //===--------------------------------------------------------------------===//

  /// Of parameters: bf16 if any is.
  Error takeType() {
    bool isNarrow = llvm::any_of(module.getOps<VariableOp>(), [](VariableOp variable) {
      return variable.getRole() == Role::Parameter && variable.getTensorType().getElementType().isBF16();
    });
    FloatKind own = isNarrow ? FloatKind::BF16 : FloatKind::F32;
    if ((options.has("dtype") || !options.planFile.empty()) && plan.dtype != own)
      return options.getWords().error(options.getWords().value(plan, "dtype") + ": the parameters of " +
                                      options.model + " are " + getName(own) +
                                      ", and a graph keeps its types; leave --dtype out or import with "
                                      "--dtype " +
                                      getName(plan.dtype));
    plan.dtype = own;
    return Error::success();
  }

  /// A graph keeps documents apart if it reads them.
  Error takeDocuments() {
    DocumentsKind own = readsDocuments(module) ? DocumentsKind::Isolate : DocumentsKind::Pack;
    if ((options.has("documents") || !options.planFile.empty()) && plan.documents != own)
      return options.getWords().error(
          options.getWords().value(plan, "documents") + ": " + options.model +
          (own == DocumentsKind::Pack ? " does not read" : " reads") +
          " the documents of tokens, and a graph keeps its inputs; leave --documents "
          "out or import with --documents " +
          getName(plan.documents));
    plan.documents = own;
    return Error::success();
  }

  Error takeSizes() {
    GraphRows rows = findRows(module);
    llvm::Expected<int64_t> vocab = getVocab(module, rows);
    if (!vocab)
      return makeError(options.model + ": " + llvm::toString(vocab.takeError()));
    if (!rows.any)
      return makeError(options.model +
                       ": no function has an argument that the runtime supplies for each micro-batch, such "
                       "as #par.place<input tokens>; nothing says how many rows the batch has");
    PlanWords words = options.getWords();
    int64_t seq = rows.getSeq(), total = rows.any.getDimSize(0) * plan.microBatches;
    bool isWhole = !options.planFile.empty();
    if ((isWhole || options.has("seq")) && plan.seq != seq)
      return words.error(words.value(plan, "seq") + (seq ? " differs from the graph's " + llvm::Twine(seq)
                                                         : ": the graph reads no tokens; leave it out"));
    if ((isWhole || options.has("batch")) && plan.batch != total)
      return words.error(words.value(plan, "batch") +
                         " differs from the graph's batch x micro-batches = " + llvm::Twine(total));
    plan.seq = seq;
    plan.batch = total;
    return checkBatch(plan, words);
  }

  Error checkInputs() {
    Error error = checkOpenInputs(module);
    return error ? makeError(options.model + ": " + llvm::toString(std::move(error))) : Error::success();
  }

  ModuleOp module;
  CompileOptions &options;
  Plan &plan;
  PlanAttr planned; ///< null: the graph has none
};
} // namespace

Error par::takeGraph(ModuleOp module, CompileOptions &options) { return GraphInput(module, options).take(); }

Error par::takeWholeGraph(ModuleOp module, const std::string &model,
                          const std::vector<std::string> &overrides, const std::set<std::string> &given,
                          Plan &plan) {
  if (getMesh(module))
    return makeError(model + ": the graph has a mesh already, so a part of its plan is made; give a graph as "
                             "par-import or --save-ir writes it first");
  CompileOptions options;
  options.model = model;
  options.overrides = overrides;
  options.given = given;
  options.plan = plan;
  Error error = takeGraph(module, options);
  plan = options.plan;
  return error;
}

std::string par::hashModel(ModuleOp module) {
  // What a graph computes; a config's numbers are there already.
  describeGraph(module);
  std::string text;
  llvm::raw_string_ostream(text) << module->getAttr(ParDialect::kModelAttr);
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
}

Error par::takeModel(ModuleOp module, CompileOptions &options) {
  std::string model = hashModel(module);
  if (!options.planFile.empty() && options.plan.model != model)
    return options.getWords().error("the plan is for the model " + options.plan.model + ", but " +
                                    options.model + " is " + model +
                                    "; give the model that it was made for, or plan anew without --plan");
  options.plan.model = model;
  if (module->hasAttr(ParDialect::kModelFlopsAttr))
    return Error::success(); // of a later phase, where types may be a rank's already
  double flops = countModelFlops(module, static_cast<double>(options.plan.batch), options.plan.freeze);
  module->setAttr(ParDialect::kModelFlopsAttr, Builder(module.getContext()).getF64FloatAttr(flops));
  return Error::success();
}

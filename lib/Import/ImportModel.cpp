//===- ImportModel.cpp - options to a checked plan and a graph ------------------------------------------===//
#include "par/Import/Import.h"
#include "par/Plan/Plan.h"

#include "GraphBuilder.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <limits>

using namespace mlir;
using namespace mlir::par;

/// Emits `error` at its place in the config.
static LogicalResult report(MLIRContext &context, llvm::Error error) {
  llvm::handleAllErrors(std::move(error), [&](const ConfigError &e) {
    // A location needs a line, and an error about the whole file has none.
    if (e.getLine())
      emitError(FileLineColLoc::get(&context, e.getFile(), e.getLine(), e.getColumn())) << e.getMessage();
    else
      emitError(UnknownLoc::get(&context)) << e.getFile() << ": " << e.getMessage();
  });
  return failure();
}

/// The graph's largest tensors must have sizes that fit in 63 bits with room for bytes and sums.
static bool countable(const ImportPlan &plan) {
  double width = 0;
  for (const LayerFunction &function : findLayerFunctions(plan.config).functions)
    width = std::max({width, function.training.width, function.training.heads * double(plan.seq)});
  return double(plan.batch) * double(plan.seq) * width < 0x1p56;
}

static FailureOr<ImportPlan> readPlan(MLIRContext &context, const ImportOptions &options) {
  auto refuse = [&]() { return emitError(UnknownLoc::get(&context)); };
  llvm::Expected<FloatKind> dtype = parseFloatKind(options.dtype);
  if (!dtype)
    return refuse() << "--dtype" << llvm::toString(dtype.takeError());
  llvm::Expected<ModelConfig> config = loadModelConfig(options.model, options.overrides);
  if (!config)
    return report(context, config.takeError());
  config->isolatesDocuments = options.isolatesDocuments;
  ImportPlan plan{*config, options.seq.value_or(std::min<int64_t>(1024, config->maxPositions)), options.batch,
                  *dtype == FloatKind::BF16};
  if (plan.seq < 1 || plan.seq > config->maxPositions)
    return refuse() << "--seq is " << plan.seq << ", expected from 1 to " << config->maxPositions
                    << ", the model's largest position";
  if (plan.batch < 1 || plan.batch > std::numeric_limits<int32_t>::max())
    return refuse() << "--batch is " << plan.batch << ", expected from 1 to "
                    << std::numeric_limits<int32_t>::max();
  if (!countable(plan))
    return refuse() << "--batch " << plan.batch << " and --seq " << plan.seq
                    << " make a tensor of more than 2^56 elements; choose smaller ones";
  return plan;
}

/// Notes say which parts of the file are left out. One line names all keys that are nobody's.
static void noteOmissions(MLIRContext &context, const ModelConfig &config) {
  auto note = [&] {
    return context.getDiagEngine().emit(UnknownLoc::get(&context), DiagnosticSeverity::Note)
           << config.file << ": ";
  };
  for (const std::string &text : config.notes)
    note() << text;
  if (!config.ignoredKeys.empty())
    note() << "ignored are keys that begin with '_' or hold a dot, as no model's own do: "
           << llvm::join(config.ignoredKeys, ", ");
}

FailureOr<ImportPlan> par::planImport(MLIRContext &context, const ImportOptions &options) {
  FailureOr<ImportPlan> plan = readPlan(context, options);
  if (succeeded(plan))
    noteOmissions(context, plan->config);
  return plan;
}

OwningOpRef<ModuleOp> par::importModel(MLIRContext &context, const ImportPlan &plan, bool logits) {
  context.loadDialect<ParDialect, arith::ArithDialect, math::MathDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = GraphBuilder(context, plan).build(logits);
  if (failed(verify(*module)))
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> par::importModel(MLIRContext &context, const ImportOptions &options) {
  FailureOr<ImportPlan> plan = readPlan(context, options);
  if (failed(plan))
    return nullptr;
  return importModel(context, *plan, options.logits);
}

std::string par::summarize(const ModelConfig &config) {
  ModelParameters parameters = modelParameters(config);
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("model_type", config.modelType);
    json.attribute("parameters", parameters.elements());
    json.attribute("tensors", static_cast<int64_t>(parameters.all().size()));
  });
  return text;
}

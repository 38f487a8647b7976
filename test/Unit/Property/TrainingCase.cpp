//===- TrainingCase.cpp - one graph, trained for a step in several ways ---------------------------------===//
#include "TrainingCase.h"
#include "GraphWriter.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "par/Interpreter/RankInterpreter.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::test;

const char *const mlir::par::test::differentiatePipeline = "builtin.module(par-differentiate-pipeline)";

std::string mlir::par::test::getPartitionPipeline(const std::string &differentiation, bool sequenceParallel,
                                                  const std::string &schedule, int64_t largestValue) {
  return "builtin.module(" + std::string(sequenceParallel ? "par-shard-sequence," : "") +
         "par-propagate-pipeline,par-differentiate-pipeline{" + differentiation +
         "},par-propagate-pipeline,par-partition-pipeline{schedule=" + schedule +
         " largest-value=" + std::to_string(largestValue) + "})";
}

/// `more` behind the passes of a pipeline.
static std::string append(std::string pipeline, const std::string &more) {
  pipeline.pop_back(); // the closing bracket
  return pipeline + "," + more + ")";
}

std::string mlir::par::test::getOverlapPipeline(const std::string &partition, int64_t microBatches,
                                                uint64_t seed) {
  static const char *const limits[] = {"", " prefetch-limit=0", " prefetch-limit=100"};
  static const char *const buckets[] = {"", "bucket-bytes=0 ", "bucket-bytes=40 "};
  std::string text = partition, phase = "par-partition-pipeline{";
  text.insert(text.find(phase) + phase.size(), buckets[seed % 3]);
  return append(text, "par-overlap-pipeline{micro-batches=" + std::to_string(microBatches) +
                          limits[seed % 3] + "}");
}

std::string mlir::par::test::getLowerPipeline(const std::string &partition, int64_t microBatches,
                                              int64_t largestValue) {
  return append(partition, "par-lower-pipeline{micro-batches=" + std::to_string(microBatches) +
                               " largest-value=" + std::to_string(largestValue) + " least-rows=1}");
}
const char *const mlir::par::test::partitionForwardPipeline =
    "builtin.module(par-propagate-pipeline,par-partition-pipeline)";

/// Number of classes that tokens and targets may name: the smallest first dimension of a table of embeddings,
/// or of logits.
static int64_t findVocabulary(ModuleOp module) {
  int64_t vocabulary = 1 << 30;
  module.walk([&](Operation *op) {
    if (auto embedding = dyn_cast<EmbeddingOp>(op))
      vocabulary = std::min(vocabulary, embedding.getTable().getType().getDimSize(0));
    if (auto loss = dyn_cast<CrossEntropyOp>(op))
      vocabulary = std::min(vocabulary, static_cast<int64_t>(loss.getClasses()));
  });
  return vocabulary;
}

/// Some of the mesh's axes, in any order, on any dimensions.
static ShardingAttr drawSharding(VariableOp variable, MeshAttr mesh, Random &random) {
  SmallVector<SmallVector<StringAttr>> dims(variable.getTensorType().getRank());
  SmallVector<StringAttr> axes(mesh.getNames());
  for (size_t left = axes.size(); left > 1; --left)
    std::swap(axes[left - 1], axes[random.range(0, static_cast<int64_t>(left) - 1)]);
  for (StringAttr axis : axes)
    if (random.chance(60))
      dims[random.range(0, static_cast<int64_t>(dims.size()) - 1)].push_back(axis);
  return ShardingAttr::get(variable.getContext(), getMeshName(variable), dims);
}

/// Parameters and the state to come are stored in any way, whatever functions compute with.
static void drawStorage(ModuleOp graph, uint64_t seed) {
  MeshAttr mesh = getMesh(graph);
  Random random(seed);
  if (!mesh || random.chance(40))
    return;
  for (auto variable : graph.getOps<VariableOp>()) {
    if (variable.getTensorType().getRank() == 0)
      continue;
    if (random.chance(40))
      variable.setStorageAttr(drawSharding(variable, mesh, random));
    NamedAttrList state;
    for (StringRef role : {"accumulator", "gradient", "moment"})
      if (random.chance(40))
        state.append(role, drawSharding(variable, mesh, random));
    if (!state.empty())
      variable->setAttr(ParDialect::kStateStorageAttr, state.getDictionary(graph.getContext()));
  }
}

TrainingCase::TrainingCase(MLIRContext &context, OwningOpRef<ModuleOp> module, uint64_t seed,
                           int64_t microBatches)
    : context(context), graph(std::move(module)) {
  drawStorage(*graph, seed + 2);
  Random random(seed);
  for (auto variable : graph->getOps<VariableOp>()) {
    Tensor &value = parameters[variable.getSymName().str()] = Tensor(variable.getTensorType());
    for (double &element : value.values)
      element = random.real();
  }
  makeInputs(seed + 1, microBatches);
  plain = TrainInterpreter::create(*graph);
  if (plain)
    plain->setRounding(false);
}

void TrainingCase::makeInputs(uint64_t seed, int64_t microBatches) {
  Random random(seed);
  auto type = RankedTensorType::get({1}, IntegerType::get(&context, 32));
  graph->walk([&](func::FuncOp function) {
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      if (std::optional<InputKind> input = getInput(function, number);
          input == InputKind::Tokens || input == InputKind::Targets)
        type = cast<RankedTensorType>(function.getArgumentTypes()[number]);
  });
  int64_t vocabulary = findVocabulary(*graph);
  for (int64_t microBatch = 0; microBatch < microBatches; ++microBatch) {
    Tensor tokens(type), targets(type);
    for (auto [token, target] : llvm::zip(tokens.values, targets.values)) {
      token = static_cast<double>(random.range(0, vocabulary - 1));
      target = type.getRank() == 2 && random.chance(20)
                   ? -100.0
                   : static_cast<double>(random.range(0, vocabulary - 1));
    }
    targets.values[0] = 0.0; // some target counts
    inputs.tokens.push_back(tokens);
    inputs.targets.push_back(targets);
  }
  inputs.dropoutKey = {123, 456};
}

std::optional<Outcome> TrainingCase::run(const std::string &pipeline) {
  error.clear();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = graph->clone();
  llvm::raw_string_ostream stream(error);
  FailureOr<OpPassManager> parsed = parsePassPipeline(pipeline, stream);
  if (failed(parsed))
    return std::nullopt;
  PassManager manager(&context, ModuleOp::getOperationName());
  static_cast<OpPassManager &>(manager) = std::move(*parsed);
  if (failed(manager.run(*module)))
    return std::nullopt;
  std::unique_ptr<StepInterpreter> train;
  if (module->getOps<rank::ScheduleOp>().empty())
    train = TrainInterpreter::create(*module);
  else
    train = RankInterpreter::create(*module);
  if (!train)
    return std::nullopt;
  // What is compared is exact arithmetic: rounding would hide all but large differences.
  train->setRounding(false);
  for (auto &[name, value] : parameters)
    train->setVariable(name, value);
  for (auto variable : module->getOps<VariableOp>())
    if (variable.getRole() == Role::Master)
      train->setVariable(variable.getSymName(), parameters[variable.getOf()->str()]);
  FailureOr<TrainResult> result = train->step(inputs);
  if (failed(result))
    return std::nullopt;
  Outcome outcome{result->loss, result->losses, {}, train->getVariables(Role::Parameter), 0.0, 0.0};
  for (auto variable : module->getOps<VariableOp>())
    if (variable.getRole() == Role::Gradient)
      outcome.gradients[variable.getOf()->str()] = *train->getVariable(variable.getSymName());
  // Every variable of the optimizer keeps its promises too.
  train->getVariables(Role::Master);
  train->getVariables(Role::Moment);
  train->getVariables(Role::Accumulator);
  outcome.replicaDifference = train->getReplicaDifference();
  outcome.padding = train->getPadding();
  return outcome;
}

std::optional<double> TrainingCase::evaluate(const std::map<std::string, Tensor> &values) {
  if (!plain)
    return std::nullopt;
  for (auto &[name, value] : values)
    plain->setVariable(name, value);
  FailureOr<TrainResult> result = plain->step(inputs);
  if (failed(result))
    return std::nullopt;
  double sum = result->loss;
  for (auto &[name, loss] : result->losses)
    sum += 0.5 * loss; // GraphWriter's weight
  return sum;
}

/// At least 1, so that what is nearly zero is compared absolutely.
static double largest(const Tensor &tensor) {
  double scale = 1.0;
  for (double value : tensor.values)
    scale = std::max(scale, std::abs(value));
  return scale;
}

std::string mlir::par::test::checkGradients(TrainingCase &test, double tolerance, int64_t elements) {
  std::optional<Outcome> outcome = test.run(differentiatePipeline);
  if (!outcome)
    return "no gradients: " + test.error;
  constexpr double h = 1e-5;
  for (auto &[name, gradient] : outcome->gradients) {
    double scale = largest(gradient);
    int64_t stride = std::max<int64_t>(1, gradient.size() / elements);
    for (int64_t element = 0; element < gradient.size(); element += stride) {
      std::map<std::string, Tensor> values = test.getParameters();
      double &value = values[name].values[element], original = value;
      value = original + h;
      std::optional<double> above = test.evaluate(values);
      value = original - h;
      std::optional<double> below = test.evaluate(values);
      if (!above || !below)
        return "no loss";
      double expected = (*above - *below) / (2 * h), actual = gradient.values[element];
      // A NaN must fail, so the comparison is for what is good.
      if (!(std::abs(expected - actual) <= tolerance * scale))
        return name + "[" + std::to_string(element) + "]: gradient " + std::to_string(actual) +
               ", difference quotient " + std::to_string(expected);
    }
  }
  return outcome->gradients.empty() ? "no gradients" : "";
}

static std::string compareTensors(StringRef what, const std::map<std::string, Tensor> &expected,
                                  const std::map<std::string, Tensor> &actual, double tolerance) {
  for (auto &[name, tensor] : expected) {
    auto found = actual.find(name);
    if (found == actual.end())
      return (what + " of " + name + " is missing").str();
    double scale = largest(tensor);
    for (auto [number, values] : llvm::enumerate(llvm::zip(tensor.values, found->second.values)))
      if (auto [a, b] = values; !(std::abs(a - b) <= tolerance * scale))
        return (what + " of " + name + "[" + Twine(number) + "] is " + std::to_string(b) + ", expected " +
                std::to_string(a))
            .str();
  }
  return "";
}

std::string mlir::par::test::compareOutcomes(const Outcome &expected, const Outcome &actual,
                                             double tolerance) {
  auto withMain = [](const Outcome &outcome) {
    std::map<std::string, double> losses = outcome.losses;
    losses["loss"] = outcome.loss;
    return losses;
  };
  std::map<std::string, double> actualLosses = withMain(actual);
  if (expected.losses.size() != actual.losses.size())
    return std::to_string(actual.losses.size()) + " further losses";
  for (auto &[name, loss] : withMain(expected))
    if (double scale = std::max(1.0, std::abs(loss));
        !actualLosses.count(name) || !(std::abs(loss - actualLosses[name]) <= tolerance * scale))
      return name + " is " + std::to_string(actualLosses[name]) + ", expected " + std::to_string(loss);
  if (!(actual.replicaDifference <= tolerance * 1e3))
    return "replicas differ by " + std::to_string(actual.replicaDifference);
  if (actual.padding != 0.0)
    return "padding holds " + std::to_string(actual.padding);
  if (std::string text = compareTensors("gradient", expected.gradients, actual.gradients, tolerance);
      !text.empty())
    return text;
  return compareTensors("parameter", expected.parameters, actual.parameters, tolerance);
}

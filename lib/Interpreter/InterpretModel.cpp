//===- InterpretModel.cpp - reference evaluation of a model on data -------------------------------------===//
#include "par/Interpreter/InterpretModel.h"
#include "InterpretGraph.h"
#include "par/Compile/GraphState.h"
#include "par/Interpreter/OpenInputs.h"
#include "par/Interpreter/ParameterFiles.h"
#include "par/Interpreter/RankInterpreter.h"
#include "par/Interpreter/TrainInterpreter.h"
#include "par/Support/Bytes.h"
#include "par/io/Memory.h"
#include "par/io/Philox.h"
#include "par/io/TokenData.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;
namespace io = ::par::io;

namespace {

/// One run of par-interpret.
class ModelRun {
public:
  ModelRun(MLIRContext &context, const InterpretOptions &options) : context(context), options(options) {}

  LogicalResult run() {
    FailureOr<InterpretGraph> built = buildInterpretGraph(context, options);
    if (failed(built))
      return failure();
    graph = std::move(*built);
    if (failed(checkMemory()))
      return failure();
    if (graph.module->getOps<rank::ScheduleOp>().empty())
      train = TrainInterpreter::create(*graph.module, options.splitBackward ? "zb-h1" : "");
    else
      train = RankInterpreter::create(*graph.module);
    if (!train)
      return failure();
    train->setRounding(!options.exact);
    if (failed(check(openData())) || failed(setParameters()))
      return failure();
    if (failed(options.function == "logits" ? runLogits() : runSteps()))
      return failure();
    return checkReplicas();
  }

private:
  LogicalResult check(const io::Status &status) {
    return status.ok() ? success() : LogicalResult(emitError(UnknownLoc::get(&context)) << status.message());
  }

  /// In time: the system would end some process later, and not always this one.
  LogicalResult checkMemory() {
    double needed = estimateMemory(*graph.module), available = io::availableMemory();
    if (needed <= available)
      return success();
    return emitError(UnknownLoc::get(&context))
           << options.model << ": evaluating it in f64 takes at least " << formatBytes(needed)
           << ", and this process has " << formatBytes(available)
           << "; use a smaller model, --batch or --seq, or compile it and use par-run";
  }

  io::Status openData() {
    io::TokenType type = options.dataType == "uint8"    ? io::TokenType::uint8
                         : options.dataType == "uint16" ? io::TokenType::uint16
                         : options.dataType == "uint32" ? io::TokenType::uint32
                                                        : io::TokenType::automatic;
    io::DataOptions files;
    files.type = type;
    files.sources.clear();
    for (const std::string &file : options.data)
      io::addDataFile(file, files);
    if (options.data.empty())
      files.sources = {"random"};
    files.documents = readsDocuments(*graph.module) ? io::Documents::isolate : io::Documents::pack;
    files.documentEnd = options.documentEnd;
    if (options.documentEnd >= 0 && !files.findsDocuments())
      return io::Status::error("--document-end serves --documents isolate only; give both or none");
    PAR_TRY(openTokens(files));
    open.emplace(*graph.module);
    PAR_TRY(open->open(files, options.inputs, options.seed));
    PAR_TRY(open->checkWindows(data.windowCount()));
    int64_t windows = options.steps * graph.batch * options.plan.microBatches;
    PAR_TRY(data.checkVocabulary(windows));
    return graph.seq ? data.checkTargets(0, windows) : io::Status();
  }

  io::Status openTokens(const io::DataOptions &files) {
    if (!graph.seq)
      return options.data.empty() || files.sources.empty()
                 ? io::Status()
                 : io::Status::error("--data " + files.sources.front() +
                                     ": the graph reads no tokens; leave it out");
    if (files.sources.empty())
      return io::Status::error("--data " + files.rows.front() +
                               ": the graph reads tokens, too; give a file of tokens, or random, beside it");
    // Any id is one where no op looks anything up.
    auto vocab = static_cast<uint32_t>(graph.vocab ? graph.vocab : std::numeric_limits<int32_t>::max());
    return data.open(files, graph.seq, vocab, options.seed);
  }

  LogicalResult setParameters() {
    if (!options.weights.empty())
      return check(loadParameters(*train, *graph.module, options.weights));
    initialiseParameters(*train, *graph.module, options.seed);
    return success();
  }

  /// Rows of one step: micro-batch m holds windows (step-1)·B + m·B/M … (contract, item 2).
  void addTokens(TrainStep &step) const {
    auto type = RankedTensorType::get({graph.batch, graph.seq}, IntegerType::get(&context, 32));
    std::vector<int32_t> window(graph.seq + 1), expected(graph.seq), positions(graph.seq),
        documents(graph.seq);
    for (int64_t microBatch = 0; microBatch < step.microBatches; ++microBatch) {
      Tensor tokens(type), targets(type), places(type), ofDocuments(type);
      for (int64_t row = 0; row < graph.batch; ++row) {
        int64_t at = ((step.number - 1) * step.microBatches + microBatch) * graph.batch + row;
        data.window(at, window.data());
        std::copy_n(window.begin() + 1, graph.seq, expected.begin());
        data.maskTargets(at, window.data(), expected.data());
        std::copy_n(window.begin(), graph.seq, tokens.values.begin() + row * graph.seq);
        std::copy_n(expected.begin(), graph.seq, targets.values.begin() + row * graph.seq);
        data.findDocuments(at, window.data(), positions.data(), documents.data());
        std::copy_n(positions.begin(), graph.seq, places.values.begin() + row * graph.seq);
        std::copy_n(documents.begin(), graph.seq, ofDocuments.values.begin() + row * graph.seq);
      }
      step.tokens.push_back(std::move(tokens));
      step.targets.push_back(std::move(targets));
      step.positions.push_back(std::move(places));
      step.documents.push_back(std::move(ofDocuments));
    }
  }

  TrainStep makeStep(int64_t number) const {
    TrainStep step;
    step.number = number;
    step.microBatches = options.plan.microBatches;
    step.rows = graph.batch * step.microBatches;
    step.lossWeights = options.lossWeights;
    if (graph.seq)
      addTokens(step);
    open->fill(step, (number - 1) * step.rows, graph.batch, step.microBatches);
    uint64_t key = io::dropoutKey(options.seed, number);
    step.dropoutKey = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
    step.lr = getLearningRate(number);
    step.beta1 = options.beta1;
    step.beta2 = options.beta2;
    step.eps = options.eps;
    step.weightDecay = options.weightDecay;
    step.clip = options.clip;
    return step;
  }

  /// Linear warm-up, then constant or a cosine down to min-lr at decay-steps.
  double getLearningRate(int64_t step) const {
    double warmup = options.warmupSteps, decay = options.decaySteps ? options.decaySteps : options.steps;
    if (step <= options.warmupSteps)
      return options.lr * step / warmup;
    if (options.lrSchedule == "constant")
      return options.lr;
    double progress = step >= decay ? 1.0 : (step - warmup) / (decay - warmup);
    return options.minLr + (options.lr - options.minLr) * 0.5 * (1.0 + std::cos(M_PI * progress));
  }

  LogicalResult runSteps() {
    for (int64_t number = 1; number <= options.steps; ++number) {
      FailureOr<TrainResult> result = train->step(makeStep(number));
      if (failed(result))
        return failure();
      print(number, *result);
    }
    if (options.output.empty())
      return success();
    std::map<std::string, Tensor> values =
        options.save == "grads" ? train->getVariables(Role::Gradient) : getParameters(*train, *graph.module);
    return check(saveVariables(*graph.module, values, options.output));
  }

  /// One micro-batch of a step, as a step of its own.
  static TrainStep takeMicroBatch(const TrainStep &step, int64_t microBatch) {
    TrainStep one = step;
    one.microBatches = 1;
    auto take = [&](std::vector<Tensor> &values) {
      if (values.size() > 1)
        values = {values[microBatch]};
    };
    take(one.tokens), take(one.targets), take(one.positions), take(one.documents);
    for (auto &[name, values] : one.openInputs)
      take(values);
    return one;
  }

  LogicalResult runLogits() {
    TrainStep step = makeStep(1);
    Tensor all;
    for (int64_t microBatch = 0; microBatch < step.microBatches; ++microBatch) {
      FailureOr<Tensor> logits = train->logits(takeMicroBatch(step, microBatch));
      if (failed(logits))
        return failure();
      all.values.insert(all.values.end(), logits->values.begin(), logits->values.end());
      SmallVector<int64_t> shape(logits->shape());
      shape[0] *= step.microBatches;
      all.type = logits->type.clone(shape);
    }
    return options.output.empty() ? success() : check(saveTensor("logits", all, options.output));
  }

  static llvm::json::Value toJson(double value) {
    return std::isfinite(value) ? llvm::json::Value(value)
                                : llvm::json::Value(std::isnan(value) ? "nan" : "inf");
  }

  static void print(int64_t step, const TrainResult &result) {
    llvm::json::OStream json(llvm::outs());
    json.object([&] {
      json.attribute("step", step);
      json.attribute("loss", toJson(result.loss));
      if (!result.losses.empty())
        json.attributeObject("losses", [&] {
          for (auto &[name, value] : result.losses)
            json.attribute(name, toJson(value));
        });
      json.attribute("grad_norm", result.gradNorm ? toJson(*result.gradNorm) : llvm::json::Value(nullptr));
    });
    llvm::outs() << "\n";
    llvm::outs().flush();
  }

  /// Replicas are computed in another order of summation at most, and padding is zero by construction:
  /// anything else is a wrong program even where the numbers above look right.
  LogicalResult checkReplicas() {
    if (train->getReplicaDifference() <= 1e-6 && train->getPadding() == 0.0)
      return success();
    return emitError(UnknownLoc::get(&context))
           << "the partitioned program is wrong: replicas of a value differ by "
           << train->getReplicaDifference() << " and its padding holds up to " << train->getPadding()
           << ", expected 0";
  }

  MLIRContext &context;
  const InterpretOptions &options;
  InterpretGraph graph;
  std::unique_ptr<StepInterpreter> train;
  io::TokenData data;
  std::optional<OpenInputs> open;
};

} // namespace

LogicalResult mlir::par::interpretModel(MLIRContext &context, InterpretOptions options) {
  if (failed(completeInterpretOptions(context, options)))
    return failure();
  return ModelRun(context, options).run();
}

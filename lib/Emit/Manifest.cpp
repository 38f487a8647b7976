//===- Manifest.cpp - what the runtime has to know of a package -----------------------------------------===//
#include "par/Emit/Manifest.h"
#include "AttributeJson.h"
#include "DescribeFile.h"
#include "Stages.h"
#include "Traffic.h"
#include "WorkList.h"
#include "par/Dialect/Par/IR/CallGraph.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Plan/PlanJson.h"
#include "par/Target/Target.h"
#include "par/runtime.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static json::Array toArray(ArrayRef<int64_t> values) { return json::Array(values); }

static json::Array toArray(ArrayRef<StringAttr> names) {
  json::Array array;
  for (StringAttr name : names)
    array.push_back(name.getValue().str());
  return array;
}

/// A list of axes per dimension.
static json::Array describeSharding(ShardingAttr sharding, int64_t rank) {
  json::Array dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    dims.push_back(sharding ? toArray(sharding.getAxes(dim)) : json::Array());
  return dims;
}

namespace {
class ManifestBuilder {
public:
  explicit ManifestBuilder(ModuleOp module)
      : module(module), symbols(module), plan(getPlan(module).getPlan()), target(*findTarget(plan.target)),
        mesh(getMesh(module)) {
    for (auto schedule : module.getOps<rank::ScheduleOp>())
      if (schedule.getPurpose() == rank::Purpose::Train)
        stages.push_back({schedule, {}});
    for (Stage &stage : stages) {
      countCalls(stage);
      stage.layers = findLayers(stage.train, symbols);
    }
    for (auto [number, function] : llvm::enumerate(module.getOps<rank::FuncOp>()))
      functions[function.getSymName()] = static_cast<int64_t>(number);
  }

  json::Object run(bool withPrograms) {
    int64_t ranks = mesh ? mesh.getNumRanks() : 1;
    json::Object described = toJson(plan);
    json::Object manifest{
        {"format_version", 6},
        {"abi_version", PAR_ABI_VERSION},
        {"target", described["target"]},
        {"model", describeModel()},
        {"seq", plan.seq},
        {"batch", plan.batch},
        {"micro_batches", plan.microBatches},
        {"optimizer", described["optimizer"]},
        {"dtype", described["dtype"]},
        {"world_size", ranks},
        {"mesh", described["mesh"]},
        {"axes", describeAxes()},
        {"plan", json::Value(toJson(plan))},
        {"inputs", describeInputNames()},
        {"memory", describeMemory()},
        {"flops_per_step", countFlops() * static_cast<double>(ranks) / double(stages.size())},
        {"collectives", describeTraffic(module, stages)},
        {"step_work", describeStepWork()}};
    if (mesh && !mesh.getViews().empty())
      manifest["views"] = describeViews();
    if (json::Array losses = describeLosses(); !losses.empty())
      manifest["losses"] = std::move(losses);
    if (auto flops = module->getAttrOfType<FloatAttr>(ParDialect::kModelFlopsAttr))
      manifest["model_flops_per_step"] = flops.getValueAsDouble();
    if (withPrograms) {
      json::Array programs;
      for (const Stage &stage : stages)
        programs.push_back(describeProgram(stage));
      manifest["programs"] = std::move(programs);
      manifest["functions"] = describeFunctions();
      manifest["parameters"] = describeParameters();
    }
    return manifest;
  }

private:
  //===--------------------------------------------------------------------===//
  // Model and mesh
  //===--------------------------------------------------------------------===//

  /// A graph that was not imported is of the type "graph".
  json::Object describeModel() {
    int64_t parameters = 0, frozen = 0;
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getRole() == Role::Parameter) {
        parameters += variable.getTensorType().getNumElements();
        frozen += variable.isTrained() ? 0 : variable.getTensorType().getNumElements();
      }
    json::Object model{{"model_type", "graph"}, {"parameters", parameters}, {"causal", isCausal()}};
    if (frozen)
      model["frozen_parameters"] = frozen;
    json::Object numbers;
    if (auto attributes = module->getAttrOfType<DictionaryAttr>(ParDialect::kModelAttr))
      for (NamedAttribute entry : attributes) {
        if (auto nested = dyn_cast<DictionaryAttr>(entry.getValue()))
          for (NamedAttribute number : nested)
            numbers[number.getName().str()] = toJson(number.getValue());
        else if (isa<StringAttr, IntegerAttr>(entry.getValue()))
          model[entry.getName().str()] = toJson(entry.getValue());
      }
    model["numbers"] = std::move(numbers);
    return model;
  }

  /// No attention lets a position see a later one.
  bool isCausal() {
    return !module
                .walk([](LibraryOpInterface op) {
                  return op.seesLaterRows() ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted();
  }

  json::Array describeAxes() {
    json::Array axes;
    if (mesh)
      for (auto [name, size] : llvm::zip(mesh.getNames(), mesh.getSizes()))
        axes.push_back(json::Object{
            {"name", name.getValue().str()}, {"size", size}, {"of", getUserAxis(name.getValue()).str()}});
    return axes;
  }

  json::Array describeViews() {
    json::Array views;
    for (MeshViewAttr view : mesh.getViews()) {
      json::Array axes;
      for (StringAttr axis : view.getAxes())
        axes.push_back(axis.getValue().str());
      views.push_back(json::Object{{"name", view.getName().getValue().str()}, {"axes", std::move(axes)}});
    }
    return views;
  }

  /// The names of several losses, and the weights that a run may replace.
  json::Array describeLosses() {
    std::map<std::string, json::Object> losses;
    for (const Stage &stage : stages) {
      rank::ScheduleOp train = stage.train;
      for (auto slot : train.getOps<rank::SlotOp>()) {
        std::string name = slot.getName().split('.').second.str();
        bool isWeight = slot.getInputKind() == InputKind::LossWeight;
        if (name.empty() || !(isWeight || slot.getOutputKind() == OutputKind::Loss))
          continue;
        losses[name]["name"] = name;
        auto weight = dyn_cast_or_null<FloatAttr>(slot.getValueAttr());
        if (isWeight)
          losses[name]["weight"] = weight ? weight.getValueAsDouble() : 1.0;
      }
    }
    json::Array list;
    for (auto &entry : losses)
      list.push_back(std::move(entry.second));
    return list;
  }

  //===--------------------------------------------------------------------===//
  // Program
  //===--------------------------------------------------------------------===//

  /// Stages share the program's file: it has the functions of all of them, and a schedule for each.
  json::Object describeProgram(const Stage &stage) {
    json::Array inputs, constants, outputs, variables, actions, schedules;
    rank::ScheduleOp train = stage.train;
    for (auto slot : train.getOps<rank::SlotOp>()) {
      switch (slot.getKind()) {
      case rank::SlotKind::Variable:
        addVariables(slot, variables);
        break;
      case rank::SlotKind::Input:
        addTensor(slot, slot.getName(), inputs);
        if (slot.getReader())
          describeOpenInput(slot, inputs);
        break;
      case rank::SlotKind::Constant:
        constants.push_back(describeConstant(slot));
        break;
      case rank::SlotKind::Output:
      case rank::SlotKind::Residual:
      case rank::SlotKind::Frame:
        break;
      }
    }
    int64_t arena = 0;
    for (rank::ScheduleOp schedule : getSchedules(stage)) {
      addOutputs(schedule, outputs);
      addActions(schedule, actions);
      arena = std::max(arena, target.align(getPeak(schedule)));
      schedules.push_back(json::Object{{"name", schedule.getName().str()},
                                       {"function", schedule.getFunctionName()},
                                       {"arena_bytes", target.align(getPeak(schedule))}});
    }
    return json::Object{{"file", "program0.so"},
                        {"ranks", describeRanks(train)},
                        {"schedules", std::move(schedules)},
                        {"arena_bytes", arena},
                        {"host_arena_bytes", target.align(getHostPeak(train))},
                        {"transfers_started", startsTransfers()},
                        {"inputs", std::move(inputs)},
                        {"constants", std::move(constants)},
                        {"outputs", std::move(outputs)},
                        {"variables", std::move(variables)},
                        {"actions", std::move(actions)},
                        {"collectives", describeCollectives(stage)},
                        {"messages", describeMessages(stage)},
                        {"work", describeWork(module, [&](rank::FuncOp function) {
                           return stage.calls.lookup(function.getSymName());
                         })}};
  }

  json::Object describeConstant(rank::SlotOp slot) {
    TypedAttr value = *slot.getValue();
    auto integer = dyn_cast<IntegerAttr>(value);
    json::Object described{
        {"dtype", elementType(slot)},
        {"offset", offset(slot)},
        {"value", integer ? double(integer.getInt()) : cast<FloatAttr>(value).getValueAsDouble()}};
    if (int64_t count = cast<RankedTensorType>(*slot.getTensor()).getNumElements(); count != 1)
      described["count"] = count;
    if (auto step = static_cast<int64_t>(slot.getStep()))
      described["step"] = step;
    return described;
  }

  /// By their coordinates on axes of the mesh; all, without a pipeline.
  static json::Object describeRanks(rank::ScheduleOp train) {
    if (!train.getStage())
      return json::Object();
    return json::Object{
        {getAxisName(AxisRole::Pipeline).str(), json::Array{static_cast<int64_t>(*train.getStage())}}};
  }

  void addOutputs(rank::ScheduleOp schedule, json::Array &outputs) {
    for (auto slot : schedule.getOps<rank::SlotOp>()) {
      if (slot.getKind() == rank::SlotKind::Output)
        addTensor(slot, slot.getName(), outputs);
      if (slot.getOutput())
        addTensor(slot, *slot.getOutput(), outputs);
    }
  }

  void addActions(rank::ScheduleOp schedule, json::Array &actions) {
    for (auto entry : schedule.getOps<rank::EntryOpInterface>()) {
      Action action = entry.getAction();
      json::Object described{{"name", stringifyActionKind(action.kind).str()},
                             {"chunk", action.chunk},
                             {"micro_batch", action.microBatch}};
      if (auto call = dyn_cast<rank::ActionOp>(*entry))
        described["function"] = functions.lookup(call.getCallee());
      actions.push_back(std::move(described));
    }
  }

  /// What each consists of: how many entries of the list `work` are its own, which stand there function by
  /// function, and what it calls how often.
  json::Array describeFunctions() {
    json::Array list;
    for (auto function : module.getOps<rank::FuncOp>()) {
      int64_t work =
          llvm::count_if(function.getBody().front(), [](Operation &op) { return op.hasAttr("work"); });
      json::Array calls;
      for (auto call : function.getOps<rank::CallOp>())
        calls.push_back(
            json::Array{functions.lookup(call.getCallee()), static_cast<int64_t>(call.getParts())});
      list.push_back(json::Object{{"work", work}, {"calls", std::move(calls)}});
    }
    return list;
  }

  static int64_t offset(rank::SlotOp slot) { return static_cast<int64_t>(slot.getOffset().value_or(0)); }
  static RankedTensorType tensor(rank::SlotOp slot) { return cast<RankedTensorType>(*slot.getTensor()); }
  static std::string elementType(rank::SlotOp slot) { return printType(tensor(slot).getElementType()); }
  static int64_t getPeak(rank::ScheduleOp schedule) {
    return static_cast<int64_t>(schedule.getPeakBytes().value_or(0));
  }

  static int64_t getHostPeak(rank::ScheduleOp train) {
    return static_cast<int64_t>(train.getHostPeakBytes().value_or(0));
  }

  /// An input or output. Its slots, one per micro-batch, stand in the order of micro-batches.
  void addTensor(rank::SlotOp slot, StringRef name, json::Array &list) {
    for (json::Value &known : list)
      if (known.getAsObject()->getString("name") == name) {
        known.getAsObject()->getArray("offsets")->push_back(offset(slot));
        return;
      }
    auto global = slot.getGlobalType() ? cast<RankedTensorType>(*slot.getGlobalType()) : tensor(slot);
    list.push_back(
        json::Object{{"name", name.str()},
                     {"dtype", elementType(slot)},
                     {"shape", toArray(global.getShape())},
                     {"sharding", describeSharding(dyn_cast_or_null<ShardingAttr>(slot.getShardingAttr()),
                                                   global.getRank())},
                     {"local_shape", toArray(tensor(slot).getShape())},
                     {"offsets", json::Array{offset(slot)}}});
  }

  /// When the runtime supplies it, and by which of its readers.
  static void describeOpenInput(rank::SlotOp slot, json::Array &inputs) {
    for (json::Value &input : inputs)
      if (input.getAsObject()->getString("name") == slot.getName()) {
        (*input.getAsObject())["time"] = stringifyInputTime(slot.getInputTime()).str();
        (*input.getAsObject())["reader"] = slot.getReader()->str();
      }
  }

  void addVariables(rank::SlotOp slot, json::Array &variables) {
    variables.push_back(describeVariable(lookup(slot.getName()), slot));
    if (ArrayAttr also = slot.getAlsoAttr())
      for (StringRef name : also.getAsValueRange<StringAttr>())
        variables.push_back(describeVariable(lookup(name), slot));
  }

  VariableOp lookup(StringRef name) { return symbols.lookup<VariableOp>(name); }

  json::Object describeVariable(VariableOp variable, rank::SlotOp slot) {
    RankedTensorType type = variable.getTensorType();
    json::Object object{{"name", variable.getSymName().str()},
                        {"role", stringifyRole(variable.getRole()).str()},
                        {"dtype", printType(type.getElementType())},
                        {"offset", offset(slot)},
                        {"shape", toArray(type.getShape())},
                        {"sharding", describeSharding(par::getStorage(variable), type.getRank())},
                        {"local_shape", toArray(tensor(slot).getShape())},
                        {"of", nullptr}};
    if (!rank::isOnDevice(slot.getBuffer()))
      object["space"] = "host";
    if (variable.getOf())
      object["of"] = variable.getOf()->str();
    if (variable.getRole() == Role::Parameter && !variable.isTrained())
      object["trained"] = false;
    if (InitAttr init = variable.getInitAttr())
      object["init"] = describeInit(init);
    if (variable.getFileAttr())
      object["file"] = describeFile(variable);
    return object;
  }

  static json::Object describeInit(InitAttr init) {
    json::Object object{{"kind", stringifyInitKind(init.getKind()).str()}, {"std", init.getStd()}};
    if (init.getZeroRow())
      object["zero_row"] = *init.getZeroRow();
    return object;
  }

  json::Array describeParameters() {
    json::Array parameters;
    for (auto variable : module.getOps<VariableOp>()) {
      if (variable.getRole() != Role::Parameter)
        continue;
      RankedTensorType type = variable.getTensorType();
      parameters.push_back(
          json::Object{{"name", variable.getModelName().str()},
                       {"shape", toArray(type.getShape())},
                       {"dtype", printType(type.getElementType())},
                       {"sharding", describeSharding(par::getStorage(variable), type.getRank())}});
    }
    return parameters;
  }

  json::Array describeInputNames() {
    json::Array names;
    std::set<std::string> seen;
    for (const Stage &stage : stages)
      for (auto slot : rank::ScheduleOp(stage.train).getOps<rank::SlotOp>())
        if (slot.getKind() == rank::SlotKind::Input && seen.insert(slot.getName().str()).second)
          names.push_back(slot.getName().str());
    return names;
  }

  /// By stage.
  json::Array describeMemory() {
    json::Array memory;
    for (size_t stage = 0; stage < stages.size(); ++stage)
      memory.push_back(describeMemory(stage));
    return memory;
  }

  json::Object describeMemory(size_t stage) {
    rank::ScheduleOp train = stages[stage].train;
    json::Object categories, schedules;
    for (rank::ScheduleOp schedule : getSchedules(stages[stage]))
      schedules[schedule.getName().str()] = getPeak(schedule);
    if (DictionaryAttr bytes = train.getArenaBytesAttr())
      for (NamedAttribute entry : bytes)
        categories[entry.getName().str()] = cast<IntegerAttr>(entry.getValue()).getInt();
    return json::Object{
        {"program", static_cast<int64_t>(stage)}, {"arena_bytes", std::move(categories)},
        {"peak_bytes", getPeak(train)},           {"schedule_peak_bytes", std::move(schedules)},
        {"host_peak_bytes", getHostPeak(train)},  {"reserved_bytes", 0}};
  }

  //===--------------------------------------------------------------------===//
  // Work of a step
  //===--------------------------------------------------------------------===//

  /// For all purposes.
  SmallVector<rank::ScheduleOp> getSchedules(const Stage &stage) {
    rank::ScheduleOp train = stage.train;
    return llvm::to_vector(
        llvm::make_filter_range(module.getOps<rank::ScheduleOp>(), [&](rank::ScheduleOp schedule) {
          return schedule.getStage() == train.getStage();
        }));
  }

  void countCalls(Stage &stage) {
    SmallVector<rank::FuncOp> run;
    for (auto action : stage.train.getOps<rank::ActionOp>())
      run.push_back(symbols.lookup<rank::FuncOp>(action.getCallee()));
    stage.calls = countRuns<rank::CallOp, rank::FuncOp>(symbols, run);
  }

  /// Of a rank of each stage.
  double countFlops() {
    double flops = 0;
    for (auto function : module.getOps<rank::FuncOp>()) {
      double once = 0;
      function.walk([&](CostOpInterface op) { once += op.getFlops(); });
      for (const Stage &stage : stages)
        flops += once * static_cast<double>(stage.calls.lookup(function.getSymName()));
    }
    return flops;
  }

  bool startsTransfers() {
    return module
        .walk([](rank::StartOp start) {
          return rank::isStartedTransfer(start) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Those of all functions, which stages share, and then the stage's sums over stages.
  json::Array describeCollectives(const Stage &stage) {
    json::Array collectives;
    module.walk([&](rank::WorkOpInterface op) {
      if (!rank::isCollective(op))
        return;
      CollectiveOpInterface content = getCollective(op);
      json::Array axes, counts;
      for (StringRef axis : content.getCollectiveAxes())
        axes.push_back(axis.str());
      for (Value operand : content->getOperands())
        counts.push_back(cast<RankedTensorType>(operand.getType()).getNumElements());
      auto reduce = dyn_cast<AllReduceOp>(content.getOperation());
      auto root = content->getAttrOfType<IntegerAttr>("root");
      auto permutation = content->getAttrOfType<DenseI64ArrayAttr>("permutation");
      Type element = cast<RankedTensorType>(content->getOperand(0).getType()).getElementType();
      collectives.push_back(
          json::Object{{"kind", content.getCollectiveKind().str()},
                       {"axes", std::move(axes)},
                       {"op", reduce ? stringifyReduceKind(reduce.getKind()).str() : "sum"},
                       {"dtype", printType(element)},
                       {"counts", std::move(counts)},
                       {"root", root ? root.getInt() : 0},
                       {"permutation", permutation ? toArray(permutation.asArrayRef()) : json::Array()},
                       {"cause", getCause(op)},
                       {"started", isa<rank::StartOp>(op)},
                       {"times", stage.countRuns(op)}});
    });
    for (rank::ScheduleOp schedule : getSchedules(stage))
      for (auto exchange : schedule.getOps<rank::ExchangeOp>())
        if (isSum(exchange.getKind()))
          collectives.push_back(describeSum(exchange));
    return collectives;
  }

  json::Object describeSum(rank::ExchangeOp exchange) {
    json::Array counts;
    Type element;
    for (Value buffer : exchange.getBuffers()) {
      RankedTensorType type = tensor(buffer.getDefiningOp<rank::SlotOp>());
      element = type.getElementType();
      counts.push_back(type.getNumElements());
    }
    return json::Object{{"kind", "all_reduce"},
                        {"groups", listGroups(exchange.getStages())},
                        {"op", "sum"},
                        {"dtype", printType(element)},
                        {"counts", std::move(counts)},
                        {"cause", exchange.getName().str()},
                        {"started", false},
                        {"times", 1}};
  }

  /// The ranks of some stages that have the same coordinates but for the stage, in the order of stages.
  json::Array listGroups(ArrayRef<int64_t> of) {
    int64_t axis = mesh.getPosition(getAxisName(AxisRole::Pipeline));
    int64_t inner = 1; // ranks from one coordinate of the axis to the next
    for (int64_t size : mesh.getSizes().drop_front(axis + 1))
      inner *= size;
    json::Array groups;
    for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
      if (rank / inner % mesh.getSizes()[axis] != 0)
        continue;
      json::Array group;
      for (int64_t stage : of)
        group.push_back(rank + stage * inner);
      groups.push_back(std::move(group));
    }
    return groups;
  }

  /// By number: a beginning stands for all of its message's parts at this end, and for those of other
  /// micro-batches.
  json::Array describeMessages(const Stage &stage) {
    json::Array messages;
    for (rank::ScheduleOp schedule : getSchedules(stage))
      for (auto exchange : schedule.getOps<rank::ExchangeOp>()) {
        std::optional<Message> message = getMessage(exchange.getAction());
        if (!message || !message->begins())
          continue;
        size_t number = *exchange.getNumber();
        if (number == messages.size())
          messages.push_back(describeMessage(exchange, *message));
        if (schedule.getPurpose() == rank::Purpose::Train) {
          json::Object &known = *messages[number].getAsObject();
          known["times"] = *known.getInteger("times") + 1;
        }
      }
    return messages;
  }

  static json::Object describeMessage(rank::ExchangeOp exchange, const Message &message) {
    json::Array bytes;
    for (Value buffer : exchange.getBuffers())
      bytes.push_back(rank::getBytes(buffer));
    return json::Object{{"kind", message.isAtSender() ? "send" : "receive"},
                        {"stage", exchange.getStages().front()},
                        {"bytes", std::move(bytes)},
                        {"what", (message.isGradient ? "gradient of chunk " : "activation of chunk ") +
                                     std::to_string(message.from)},
                        {"times", 0}};
  }

  /// By class, stage by stage.
  json::Array describeStepWork() {
    json::Array list;
    for (auto [number, stage] : llvm::enumerate(stages))
      for (json::Value &entry : summarizeWork(module, target, [&stage = stage](rank::FuncOp function) {
             return stage.calls.lookup(function.getSymName());
           })) {
        if (stages.size() > 1)
          (*entry.getAsObject())["stage"] = static_cast<int64_t>(number);
        list.push_back(std::move(entry));
      }
    return list;
  }

  ModuleOp module;
  SymbolTable symbols;
  llvm::StringMap<int64_t> functions; ///< their numbers, in the module's order
  const Plan plan;
  const Target &target;
  MeshAttr mesh;
  std::vector<Stage>
      stages; ///< inputs, constants and variables of a stage's `train` are those of all its schedules
};
} // namespace

llvm::json::Object par::buildManifest(ModuleOp module, bool withPrograms) {
  return ManifestBuilder(module).run(withPrograms);
}

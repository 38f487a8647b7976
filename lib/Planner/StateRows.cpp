//===- StateRows.cpp - what ranks of data parallelism store and exchange --------------------------------===//
#include "par/Planner/StateRows.h"
#include "par/Cost/WorkOps.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Dialect/Rank/Analysis/StepLists.h"
#include "par/Sharding/FactorAssignment.h"

using namespace mlir;
using namespace mlir::par;

bool StateRows::starts(CollectiveKind kind, ArrayRef<ActionKind> actions) const {
  return llvm::any_of(collectives, [&](const CollectiveRow &row) {
    return row.isStarted && row.kind == kind && llvm::is_contained(actions, row.action);
  });
}

namespace {
/// A row while functions are read.
struct Draft {
  double bytes = 0;
  bool isStarted = false;
  llvm::StringSet<> variables;   ///< where operands are those of the schedule's
  std::vector<int64_t> elements; ///< of the tensors
};

class RowReader {
public:
  explicit RowReader(ModuleOp module) : module(module), symbols(module), mesh(getMesh(module)) {}

  std::optional<StateRows> run();

private:
  using Key = std::tuple<ActionKind, CollectiveKind, DataAxes>;
  DataAxes getAxes(ShardingAttr sharding) const;
  VariableOp findParameter(rank::SlotOp slot) const;
  void addSlot(rank::SlotOp slot);
  void addAction(rank::ActionOp action);
  void addCollective(ActionKind kind, rank::ActionOp action, Operation *op);
  void addCopy(Operation *op, double bytes);
  void startAlike();
  void subtractMicroBatch();
  void finish(const Key &key, const Draft &draft);

  ModuleOp module;
  SymbolTable symbols;
  MeshAttr mesh;
  StateRows rows;
  std::map<Key, Draft> drafts;
  llvm::StringSet<> seen; ///< slots and functions
  llvm::StringMap<double> parameterBytes;
  llvm::DenseSet<int64_t> wholeElements; ///< of a parameter
  double hostBytes = 0, hostTensors = 0, copied = 0, copies = 0;
};
} // namespace

DataAxes RowReader::getAxes(ShardingAttr sharding) const {
  DataAxes over = DataAxes::None;
  if (sharding)
    for (const Axes &axes : getDimAxes(sharding))
      for (StringAttr axis : axes)
        over = over | getDataAxes(axis.getValue());
  return over;
}

/// The parameter that a slot is of, or belongs to.
VariableOp RowReader::findParameter(rank::SlotOp slot) const {
  auto variable = symbols.lookup<VariableOp>(slot.getName());
  if (variable && variable.getOf())
    variable = symbols.lookup<VariableOp>(*variable.getOf());
  return variable && variable.getRole() == Role::Parameter ? variable : VariableOp();
}

void RowReader::addSlot(rank::SlotOp slot) {
  VariableOp parameter = findParameter(slot);
  if (!parameter || !seen.insert(slot.getName()).second)
    return;
  auto variable = symbols.lookup<VariableOp>(slot.getName());
  auto whole = static_cast<double>(getTensorBytes(parameter.getTensorType()));
  parameterBytes[parameter.getSymName()] = whole;
  wholeElements.insert(parameter.getTensorType().getNumElements());
  MemoryRow row;
  row.category = slot.getCategory();
  row.lifetime = variable.getRole() == Role::Gathered ? Lifetime::Passes : Lifetime::Step;
  row.isOnHost = cast<rank::BufferType>(slot.getBuffer().getType()).getSpace() != rank::Space::Device;
  row.over = getAxes(variable.getStorageAttr() ? variable.getStorageAttr() : variable.getComputeAttr());
  row.perByte = static_cast<double>(getTensorBytes(variable.getTensorType())) / whole;
  rows.variables[parameter.getSymName()].push_back(row);
  if (row.category == rank::Category::Gradients)
    rows.updatedOver = rows.updatedOver | row.over;
  if (row.isOnHost) {
    hostBytes += static_cast<double>(rank::getBytes(slot.getBuffer()));
    ++hostTensors;
  }
}

void RowReader::addCopy(Operation *op, double bytes) {
  copied += bytes;
  ++copies;
  rows.startsCopies |= isa<rank::StartOp>(op);
}

/// The arguments of a function that kernels make a buffer of (`isMade`), or make of it: parts of other than
/// the first dimension are transposed on their way.
static SmallVector<BlockArgument> findArguments(Value exchanged, bool isMade) {
  SmallVector<BlockArgument> arguments;
  llvm::SmallSetVector<Value, 8> buffers;
  buffers.insert(exchanged);
  for (size_t at = 0; at < buffers.size(); ++at) {
    Value buffer = buffers[at];
    if (auto argument = dyn_cast<BlockArgument>(buffer))
      arguments.push_back(argument);
    else
      for (Operation *user : buffer.getUsers())
        if (auto work = dyn_cast<rank::WorkOpInterface>(user); work && !rank::isCollective(user)) {
          ValueRange ins = work.getIns(), outs = work.getOuts();
          if (llvm::is_contained(isMade ? outs : ins, buffer))
            buffers.insert((isMade ? ins : outs).begin(), (isMade ? ins : outs).end());
        }
  }
  return arguments;
}

/// Over axes of data parallelism; numbers, of which a step has one for all units, are left out.
void RowReader::addCollective(ActionKind kind, rank::ActionOp action, Operation *op) {
  auto work = cast<rank::WorkOpInterface>(op);
  auto content = cast<CollectiveOpInterface>(work.getBody().front().front());
  DataAxes over = DataAxes::None;
  for (StringRef axis : content.getCollectiveAxes())
    over = over | getDataAxes(axis);
  std::optional<CollectiveKind> exchanged = describeExchange(op, mesh).kind;
  if (over == DataAxes::None || !exchanged)
    return;
  SmallVector<Value> places(action.getIns());
  llvm::append_range(places, action.getOuts());
  for (auto [number, operand, result] :
       llvm::enumerate(content->getOperandTypes(), content->getResultTypes())) {
    Type whole = getTensorBytes(operand) > getTensorBytes(result) ? operand : result;
    int64_t elements = cast<RankedTensorType>(whole).getNumElements();
    if (elements == 1)
      continue;
    Draft &draft = drafts[{kind, *exchanged, over}];
    draft.bytes += static_cast<double>(getTensorBytes(whole));
    draft.isStarted |= isa<rank::StartOp>(op);
    draft.elements.push_back(elements);
    SmallVector<BlockArgument> arguments = findArguments(work.getIns()[number], /*isMade=*/true);
    llvm::append_range(arguments, findArguments(work.getOuts()[number], /*isMade=*/false));
    for (BlockArgument argument : arguments)
      if (auto slot = places[argument.getArgNumber()].getDefiningOp<rank::SlotOp>())
        if (VariableOp parameter = findParameter(slot))
          draft.variables.insert(parameter.getSymName());
  }
}

void RowReader::addAction(rank::ActionOp action) {
  if (!seen.insert(action.getCallee()).second)
    return;
  ActionKind kind = cast<rank::EntryOpInterface>(*action).getAction().kind;
  for (Operation &op : symbols.lookup<rank::FuncOp>(action.getCallee()).getBody().front())
    if (std::optional<double> bytes = findTransferBytes(&op))
      addCopy(&op, *bytes);
    else if (rank::isCollective(&op))
      addCollective(kind, action, &op);
}

/// Units are few here: what is exchanged behind all of them would be so beside others in a longer model, as
/// the rest is that their function exchanges.
void RowReader::startAlike() {
  for (auto &[key, draft] : drafts)
    draft.isStarted |= llvm::any_of(drafts, [action = std::get<ActionKind>(key)](const auto &other) {
      return std::get<ActionKind>(other.first) == action && other.second.isStarted;
    });
}

/// The last action of a step does what it does of every micro-batch, and what is done once.
void RowReader::subtractMicroBatch() {
  for (auto [last, each] : {std::pair(ActionKind::BackwardLast, ActionKind::Backward),
                            std::pair(ActionKind::BackwardWeightLast, ActionKind::BackwardWeight)})
    for (auto &[key, draft] : drafts)
      if (std::get<ActionKind>(key) == last)
        if (auto found = drafts.find({each, std::get<1>(key), std::get<2>(key)}); found != drafts.end())
          draft.bytes -= found->second.bytes;
}

/// What is not of arguments is made of gradients: of all parameters that are trained.
void RowReader::finish(const Key &key, const Draft &draft) {
  if (draft.bytes <= 0)
    return;
  CollectiveRow &row = rows.collectives.emplace_back();
  std::tie(row.action, row.kind, row.over) = key;
  row.isStarted = draft.isStarted;
  row.variables = draft.variables;
  if (row.variables.empty())
    for (const auto &variable : rows.variables)
      if (symbols.lookup<VariableOp>(variable.getKey()).isTrained())
        row.variables.insert(variable.getKey());
  bool isWhole = llvm::all_of(draft.elements, [&](int64_t count) { return wholeElements.contains(count); });
  row.dividedOver = isWhole || contains(row.over, DataAxes::Parts) ? DataAxes::None : DataAxes::Parts;
  double bytes = 0;
  for (const auto &variable : row.variables)
    bytes += parameterBytes.lookup(variable.getKey());
  NamedAxes axes;
  for (auto [name, size] : llvm::zip(mesh.getNames(), mesh.getSizes()))
    axes.emplace_back(name.getValue().str(), size);
  row.perByte = draft.bytes * static_cast<double>(MeshRanks(axes).count(row.dividedOver)) / bytes;
}

std::optional<StateRows> RowReader::run() {
  FailureOr<rank::StepLists> step = rank::StepLists::read(module, rank::Purpose::Train);
  if (failed(step) || step->stages.empty())
    return std::nullopt;
  for (rank::ScheduleOp train : step->stages)
    for (auto slot : train.getBody().getOps<rank::SlotOp>())
      addSlot(slot);
  for (const std::vector<rank::EntryOpInterface> &entries : step->entries)
    for (rank::EntryOpInterface entry : entries) {
      rows.splitsBackward |= entry.getAction().kind == ActionKind::BackwardWeight;
      if (auto action = dyn_cast<rank::ActionOp>(*entry))
        addAction(action);
    }
  startAlike();
  subtractMicroBatch();
  for (auto &[key, draft] : drafts)
    finish(key, draft);
  if (hostBytes > 0) {
    rows.copiedPerByte = copied / hostBytes;
    rows.copiesPerTensor = copies / hostTensors;
  }
  return std::move(rows);
}

std::optional<StateRows> par::tabulateState(ModuleOp module) { return RowReader(module).run(); }

//===- RankOps.cpp - the rank dialect -------------------------------------------------------------------===//
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Dialect/Rank/IR/Structure.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par::rank;
using mlir::par::Message;
using mlir::par::MessagePart;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

static void addEffects(ArrayRef<Access> accesses, Effects &effects) {
  for (const Access &access : accesses)
    if (access.kind == AccessKind::Read)
      effects.emplace_back(MemoryEffects::Read::get(), access.operand);
    else
      effects.emplace_back(MemoryEffects::Write::get(), access.operand);
}

/// From the range itself: a MutableOperandRange costs an attribute of segment sizes.
static void addAccesses(OperandRange buffers, AccessKind kind, std::optional<ArrayRef<int64_t>> values,
                        SmallVectorImpl<Access> &accesses) {
  for (size_t number = 0; number < buffers.size(); ++number)
    accesses.push_back(
        {&buffers.getBase()[number], kind, values ? std::optional((*values)[number]) : std::nullopt});
}

template <typename Op>
static SmallVector<Access> getWorkAccesses(Op op) {
  SmallVector<Access> accesses;
  addAccesses(op.getIns(), AccessKind::Read, op.getReads(), accesses);
  addAccesses(op.getOuts(), AccessKind::Write, op.getWrites(), accesses);
  addAccesses(op.getScratch(), AccessKind::Clobber, {}, accesses);
  return accesses;
}

/// rank.call and rank.action.
template <typename Op>
static SmallVector<Access> getCallAccesses(Op op) {
  SmallVector<Access> accesses;
  addAccesses(op.getIns(), AccessKind::Read, op.getReads(), accesses);
  addAccesses(op.getOuts(), AccessKind::Write, op.getWrites(), accesses);
  accesses.push_back({&op.getFrameMutable(), AccessKind::Clobber, {}});
  return accesses;
}

#include "par/Dialect/Rank/IR/RankDialect.cpp.inc"
#include "par/Dialect/Rank/IR/RankEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "par/Dialect/Rank/IR/RankAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "par/Dialect/Rank/IR/RankInterfaces.cpp.inc"
#include "par/Dialect/Rank/IR/RankTypes.cpp.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Rank/IR/RankOps.cpp.inc"

void RankDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "par/Dialect/Rank/IR/RankAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "par/Dialect/Rank/IR/RankTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Rank/IR/RankOps.cpp.inc"
      >();
}

int64_t par::rank::getBytes(Type type) { return getTensorBytes(type); }

//===----------------------------------------------------------------------===//
// rank.func
//===----------------------------------------------------------------------===//

Type BufferType::parse(AsmParser &parser) {
  int64_t bytes = 0;
  FailureOr<Space> space = Space::Device;
  if (parser.parseLess() || parser.parseInteger(bytes))
    return {};
  if (succeeded(parser.parseOptionalComma()) && failed(space = FieldParser<Space>::parse(parser)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), bytes,
                    *space);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<' << getBytes();
  if (getSpace() != Space::Device)
    printer << ", " << getSpace();
  printer << '>';
}

LogicalResult BufferType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t bytes, Space) {
  if (bytes < 0)
    return emitError() << "rank_buffer_c1: a buffer of " << bytes << " bytes, expected 0 or more";
  return success();
}

void AllocOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
}

LogicalResult AllocOp::verify() {
  if (getType().getSpace() == Space::Host)
    return emitOpError("rank_alloc_c2: ")
           << getType() << " is of memory in which a rank has no arena, expected "
           << "device or pinned memory";
  if (!getOffset())
    return success();
  auto offset = static_cast<int64_t>(*getOffset());
  if (offset < 0)
    return emitOpError("rank_alloc_c1: offset ") << offset << ", expected 0 or more";
  auto function = (*this)->getParentOfType<FuncOp>();
  if (!isOnDevice(getBuffer()) || !function || !function.getFrame() ||
      getType().getBytes() <= static_cast<int64_t>(*function.getFrame()) - offset)
    return success();
  InFlightDiagnostic diagnostic = emitOpError("rank_alloc_c1: ")
                                  << getType().getBytes() << " bytes from " << offset
                                  << " leave the frame of " << *function.getFrame() << " bytes";
  diagnostic.attachNote(function.getLoc()) << "the function";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static LogicalResult verifyTensor(Operation *op, StringRef what, unsigned number, Value buffer, Type tensor) {
  int64_t bytes = cast<BufferType>(buffer.getType()).getBytes();
  if (!isa<RankedTensorType>(tensor) || getBytes(tensor) != bytes)
    return op->emitOpError("rank_work_c2: ") << what << " " << number << " has " << bytes
                                             << " bytes, its tensor " << tensor << " has another size";
  return success();
}

/// (rank_work_c3), and (rank_call_c6) and (rank_action_c6): as many numbers of values as buffers.
template <typename Op>
static LogicalResult verifyNumbers(Op op, StringRef code) {
  for (auto [name, numbers, buffers] :
       {std::tuple("reads", op.getReads(), op.getIns()), std::tuple("writes", op.getWrites(), op.getOuts())})
    if (numbers && numbers->size() != buffers.size())
      return op->emitOpError() << code << ": `" << name << "` has " << numbers->size()
                               << " numbers, expected one for each of the " << buffers.size() << " buffers";
  return success();
}

/// (rank_work_c4): a kernel reaches one memory.
static LogicalResult verifySpaces(WorkOpInterface op) {
  Value first = op->getNumOperands() ? op->getOperand(0) : Value();
  if (isStartedTransfer(op))
    return success();
  for (Value buffer : op->getOperands())
    if (cast<BufferType>(buffer.getType()).getSpace() != cast<BufferType>(first.getType()).getSpace()) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("rank_work_c4: buffers of ")
          << first.getType() << " and of " << buffer.getType()
          << ", expected all of one memory; a transfer brings what lies in another";
      diagnostic.attachNote(buffer.getLoc()) << "the buffer of other memory";
      return diagnostic;
    }
  return success();
}

static LogicalResult verifyWork(WorkOpInterface op) {
  Block &block = op.getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return op->emitOpError("rank_work_c1: the region must end in rank.yield");
  if (block.getNumArguments() != op.getIns().size() || yield.getValues().size() != op.getOuts().size())
    return op->emitOpError("rank_work_c1: ")
           << op.getIns().size() << " ins and " << op.getOuts().size() << " outs, but "
           << block.getNumArguments() << " block arguments and " << yield.getValues().size()
           << " yielded tensors";
  bool valid = true;
  for (auto [number, pair] : llvm::enumerate(llvm::zip(op.getIns(), block.getArgumentTypes())))
    valid &= succeeded(verifyTensor(op, "input", number, std::get<0>(pair), std::get<1>(pair)));
  for (auto [number, pair] : llvm::enumerate(llvm::zip(op.getOuts(), yield.getValues().getTypes())))
    valid &= succeeded(verifyTensor(op, "output", number, std::get<0>(pair), std::get<1>(pair)));
  return success(valid && succeeded(verifyNumbers(op, "rank_work_c3")) && succeeded(verifySpaces(op)));
}

LogicalResult KernelOp::verify() { return verifyWork(*this); }

LogicalResult GemmOp::verify() {
  if (failed(verifyWork(*this)))
    return failure();
  ArrayAttr expected = describeProducts(getBody().front());
  if (expected.empty())
    return emitOpError(
        "rank_gemm_c1: the region holds what no call of the runtime computes, expected matrix "
        "products that begin with nothing, an input, an input times a scalar or products before "
        "them; anything else is a rank.kernel");
  if (getProducts().size() != expected.size())
    return emitOpError("rank_gemm_c2: `products` has ")
           << getProducts().size() << " entries, expected one for each of the " << expected.size()
           << " products of the region";
  for (auto [actual, product] : llvm::zip(getProducts(), expected))
    if (actual != product)
      return emitOpError("rank_gemm_c3: `products` says ")
             << actual << ", but the region computes " << product;
  return success();
}

/// (rank_attention_c1), (rank_attention_c2), and those of other ops of libraries.
static LogicalResult verifyLibrary(LibraryWorkInterface op) {
  if (failed(verifyWork(op)))
    return failure();
  StringRef name = op->getName().stripDialect();
  par::LibraryOpInterface content = op.getContent();
  bool isItsOwn = content && content.getWorkName() == op->getName().getStringRef();
  Attribute expected = isItsOwn ? op.describe() : Attribute();
  if (!expected)
    return op->emitOpError("rank_") << name << "_c1: the region must hold " << op.getRequirement();
  if (op.getDescription() != expected)
    return op->emitOpError("rank_") << name << "_c2: `structure` says " << op.getDescription()
                                    << ", but the region computes " << expected;
  return success();
}

LogicalResult AttentionOp::verify() { return verifyLibrary(*this); }
LogicalResult LibraryOp::verify() { return verifyLibrary(*this); }

LogicalResult CollectiveOp::verify() { return verifyWork(*this); }

//===----------------------------------------------------------------------===//
// Start and wait
//===----------------------------------------------------------------------===//

bool mlir::par::rank::isStartedTransfer(Operation *op) {
  auto start = dyn_cast<StartOp>(op);
  // By name: this dialect knows the ops of regions by their interfaces alone.
  return start && start.getBody().front().front().getName().getStringRef() == "par.transfer";
}

bool mlir::par::rank::isCollective(Operation *op) {
  return isa<CollectiveOp>(op) || (isa<StartOp>(op) && !isStartedTransfer(op));
}

WaitOp StartOp::getWait() {
  return getEvent().hasOneUse() ? dyn_cast<WaitOp>(*getEvent().getUsers().begin()) : WaitOp();
}

/// (rank_start_c4): copies that run by themselves are between the device and pinned memory.
static LogicalResult verifyTransfer(StartOp start) {
  if (!isStartedTransfer(start))
    return success();
  auto from = cast<BufferType>(start.getIns().front().getType()),
       to = cast<BufferType>(start.getOuts().front().getType());
  bool leaves = from.getSpace() == Space::Device && to.getSpace() == Space::Pinned,
       comes = from.getSpace() == Space::Pinned && to.getSpace() == Space::Device;
  if (leaves || comes)
    return success();
  return start.emitOpError("rank_start_c4: a transfer from ")
         << from << " to " << to << ", expected one from the device to pinned memory or back";
}

LogicalResult StartOp::verify() {
  WaitOp wait = getWait();
  if (!wait || wait->getBlock() != (*this)->getBlock())
    return emitOpError(
        "rank_start_c1: the event must be used by one rank.wait of the same block and by nothing else");
  if (failed(verifyWork(*this)))
    return failure();
  if (!llvm::hasNItems(getBody().front(), 2))
    return emitOpError("rank_start_c3: the region must hold one collective, or transfer, and its yield");
  return verifyTransfer(*this);
}

void WaitOp::getEffects(Effects &effects) { effects.emplace_back(MemoryEffects::Write::get()); }

LogicalResult WaitOp::verify() {
  auto start = getEvent().getDefiningOp<StartOp>();
  if (!start || start->getBlock() != (*this)->getBlock())
    return emitOpError("rank_wait_c1: the event must be the result of a rank.start of the same block");
  return success();
}

SmallVector<Access> CopyOp::getAccesses() {
  std::optional<int64_t> value;
  if (getValue())
    value = static_cast<int64_t>(*getValue());
  return {{&getSourceMutable(), AccessKind::Read, value}, {&getTargetMutable(), AccessKind::Write, value}};
}

LogicalResult CopyOp::verify() {
  if (getSource().getType().getBytes() != getTarget().getType().getBytes())
    return emitOpError("rank_copy_c1: source ")
           << getSource().getType() << " and target " << getTarget().getType() << " must have equal bytes";
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The buffer is what the argument takes, or that many such parts.
static bool fits(Type buffer, Type argument, int64_t parts) {
  auto whole = cast<BufferType>(buffer), part = cast<BufferType>(argument);
  return whole.getSpace() == part.getSpace() &&
         (whole.getBytes() == part.getBytes() ||
          (whole.getBytes() % parts == 0 && whole.getBytes() / parts == part.getBytes()));
}

/// rank.call and rank.action: `code` begins the names of their constraints.
template <typename Op>
static LogicalResult verifyCallee(Op op, StringRef code, int64_t parts, SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(op, op.getCalleeAttr());
  if (!callee)
    return op.emitOpError() << code << "_c1: " << op.getCalleeAttr() << " names no rank.func";
  ArrayRef<Type> types = callee.getArgumentTypes();
  TypeRange buffers = op.getBuffers().getTypes();
  if (!std::equal(buffers.begin(), buffers.end(), types.begin(), types.end(),
                  [&](Type buffer, Type argument) { return fits(buffer, argument, parts); })) {
    InFlightDiagnostic diagnostic = op.emitOpError()
                                    << code << "_c2: buffers have the types (" << op.getBuffers().getTypes()
                                    << "), expected those of the arguments, (" << types << ")";
    if (parts > 1)
      diagnostic << ", or " << parts << " such parts";
    diagnostic.attachNote(callee.getLoc()) << "the callee";
    return diagnostic;
  }
  if (op.getOuts().size() != callee.getResults())
    return op.emitOpError() << code << "_c5: " << op.getOuts().size() << " outs, but the callee has "
                            << callee.getResults() << " results";
  int64_t frame = op.getFrame().getType().getBytes();
  if (!isOnDevice(op.getFrame()))
    return op.emitOpError() << code << "_c3: the frame is of " << op.getFrame().getType()
                            << ", expected memory of the device";
  if (callee.getFrame() && static_cast<int64_t>(*callee.getFrame()) > frame)
    return op.emitOpError() << code << "_c3: the frame has " << frame << " bytes, the callee needs "
                            << *callee.getFrame();
  return success();
}

LogicalResult CallOp::verify() {
  auto parts = static_cast<int64_t>(getParts());
  if (parts < 1)
    return emitOpError("rank_call_c4: parts = ") << parts << ", expected 1 or more";
  return verifyNumbers(*this, "rank_call_c6");
}

SmallVector<Access> CallOp::getAccesses() { return getCallAccesses(*this); }

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, "rank_call", static_cast<int64_t>(getParts()), symbols);
}

int64_t CallOp::getStride(unsigned number, FuncOp callee) {
  int64_t bytes = par::rank::getBytes(getBuffers()[number]),
          part = cast<BufferType>(callee.getArgumentTypes()[number]).getBytes();
  return bytes == part ? 0 : part;
}

ScheduleOp par::rank::findSchedule(ModuleOp module, Purpose purpose, std::optional<uint64_t> stage) {
  for (auto schedule : module.getOps<ScheduleOp>())
    if (schedule.getPurpose() == purpose && schedule.getStage() == stage)
      return schedule;
  return nullptr;
}

SmallVector<ScheduleOp> par::rank::findSchedules(ModuleOp module, Purpose purpose) {
  SmallVector<ScheduleOp> schedules;
  for (auto schedule : module.getOps<ScheduleOp>())
    if (schedule.getPurpose() == purpose)
      schedules.push_back(schedule);
  llvm::stable_sort(schedules, [](ScheduleOp a, ScheduleOp b) { return a.getStage() < b.getStage(); });
  return schedules;
}

std::string ScheduleOp::getFunctionName() {
  std::string name = ("par_schedule_" + getName()).str();
  return getStage() ? name + "_" + std::to_string(*getStage()) : name;
}

SmallVector<Access> ActionOp::getAccesses() { return getCallAccesses(*this); }

LogicalResult ActionOp::verify() {
  if (getMessage(getAction()) || isSum(getKind()))
    return emitOpError("rank_action_c7: ") << getName() << " runs no function; write rank.exchange";
  return verifyNumbers(*this, "rank_action_c6");
}

par::Action ActionOp::getAction() {
  return {getKind(), static_cast<int64_t>(getChunk()), static_cast<int64_t>(getMicroBatch())};
}

LogicalResult ActionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (Value operand : getOperands())
    if (!operand.getDefiningOp<SlotOp>())
      return emitOpError("rank_action_c4: frame and buffers must be slots of the schedule");
  return verifyCallee(*this, "rank_action", /*parts=*/1, symbols);
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

par::Action ExchangeOp::getAction() {
  return {getKind(), static_cast<int64_t>(getChunk()), static_cast<int64_t>(getMicroBatch())};
}

/// What is received means nothing from its beginning on, and is there when it was waited for.
SmallVector<Access> ExchangeOp::getAccesses() {
  std::optional<Message> message = getMessage(getAction());
  AccessKind outs =
      message && message->part == MessagePart::Receive ? AccessKind::Clobber : AccessKind::Write;
  SmallVector<Access> accesses;
  addAccesses(getIns(), AccessKind::Read, getReads(), accesses);
  addAccesses(getOuts(), outs, getWrites(), accesses);
  return accesses;
}

/// (rank_exchange_c3)
static LogicalResult verifyBuffers(ExchangeOp op, std::optional<Message> message) {
  bool isSend = message && message->isAtSender();
  if (message ? (isSend ? op.getOuts() : op.getIns()).empty() : op.getIns() == op.getOuts())
    return success();
  return op.emitOpError("rank_exchange_c3: ")
         << op.getIns().size() << " ins and " << op.getOuts().size() << " outs, expected "
         << (!message ? "the same buffers as both"
             : isSend ? "ins only"
                      : "outs only");
}

/// (rank_exchange_c4)
static LogicalResult verifyStages(ExchangeOp op, bool isMessage) {
  auto schedule = op->getParentOfType<ScheduleOp>();
  int64_t own = schedule ? static_cast<int64_t>(schedule.getStage().value_or(0)) : 0;
  ArrayRef<int64_t> stages = op.getStages();
  bool good = isMessage ? stages.size() == 1 && stages.front() >= 0 && stages.front() != own
                        : stages.size() > 1 && stages.front() >= 0 && llvm::is_contained(stages, own) &&
                              std::adjacent_find(stages.begin(), stages.end(),
                                                 std::greater_equal<int64_t>()) == stages.end();
  if (good)
    return success();
  InFlightDiagnostic error = op.emitOpError("rank_exchange_c4: with [");
  llvm::interleaveComma(stages, error);
  return error << "] on stage " << own << ", expected "
               << (isMessage ? "one other stage" : "several stages in ascending order, this one among them");
}

LogicalResult ExchangeOp::verify() {
  std::optional<Message> message = getMessage(getAction());
  if (!message && !isSum(getKind()))
    return emitOpError("rank_exchange_c1: ")
           << getName() << " is neither part of a message nor a sum; write rank.action";
  for (Value buffer : getOperands())
    if (!buffer.getDefiningOp<SlotOp>())
      return emitOpError("rank_exchange_c2: buffers must be slots of the schedule");
  if (failed(verifyBuffers(*this, message)) || failed(verifyStages(*this, message.has_value())))
    return failure();
  return verifyNumbers(*this, "rank_exchange_c5");
}

void SlotOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
  effects.emplace_back(MemoryEffects::Write::get(), getOperation()->getOpResult(0));
}

std::string SlotOp::getIdentity() {
  std::string text;
  llvm::raw_string_ostream(text) << stringifySlotKind(getKind()) << " \"" << getName() << "\" "
                                 << getMicroBatch() << " " << getValueAttr();
  // One number may begin tensors of several sizes.
  if (getKind() == SlotKind::Constant)
    llvm::raw_string_ostream(text) << " " << getTensorAttr() << " " << getStep();
  return text;
}

std::optional<par::InputKind> SlotOp::getInputKind() {
  return getKind() == SlotKind::Input ? symbolizeInputKind(getName()) : std::nullopt;
}

par::InputTime SlotOp::getInputTime() {
  return static_cast<int64_t>(getMicroBatch()) < 0 ? InputTime::Step : InputTime::MicroBatch;
}

std::optional<par::OutputKind> SlotOp::getOutputKind() {
  if (getKind() == SlotKind::Output)
    return symbolizeOutputKind(getName());
  return getOutput() ? symbolizeOutputKind(*getOutput()) : std::nullopt;
}

LogicalResult SlotOp::verify() {
  if (getReader() && (getKind() != SlotKind::Input || getInputKind()))
    return emitOpError("rank_slot_c7: \"")
           << getName() << "\" has the reader \"" << *getReader() << "\", which only an open input has";
  if (getKind() == SlotKind::Input && !getInputKind() && !getReader())
    return emitOpError("rank_slot_c6: \"") << getName() << "\" is no input of #par.place";
  if ((getKind() == SlotKind::Output || getOutput()) && !getOutputKind())
    return emitOpError("rank_slot_c6: \"")
           << getOutput().value_or(getName()) << "\" is no output of #par.place";
  if (getOffset() && static_cast<int64_t>(*getOffset()) < 0)
    return emitOpError("rank_slot_c3: offset ")
           << static_cast<int64_t>(*getOffset()) << ", expected 0 or more";
  if (Space space = getType().getSpace();
      space == Space::Host || (space == Space::Pinned && getKind() != SlotKind::Variable))
    return emitOpError("rank_slot_c4: a slot of ")
           << stringifySpace(space) << " memory, expected the device's; variables may be pinned";
  if (getSharding() && !isa<ShardingAttr>(*getSharding()))
    return emitOpError("rank_slot_c5: `sharding` is ") << *getSharding() << ", expected a #par.sharding";
  if (getKind() == SlotKind::Frame)
    return success();
  if (!getTensor() || !isa<RankedTensorType>(*getTensor()) || getBytes(*getTensor()) != getType().getBytes())
    return emitOpError("rank_slot_c1: the buffer has ")
           << getType().getBytes() << " bytes, `tensor` must be a tensor of that size";
  if (getKind() != SlotKind::Constant)
    return success();
  Type element = getElementTypeOrSelf(*getTensor());
  if (!getValue() || getValue()->getType() != element || !(element.isF32() || element.isInteger(32)))
    return emitOpError("rank_slot_c2: a constant of ")
           << *getTensor() << " needs a value of its elements, f32 or i32";
  return success();
}

//===- VerifyProgram.cpp - memory holds what every op expects -------------------------------------------===//
#include "InPlace.h"
#include "VerifyPlaces.h"
#include "par/BegunMessages.h"
#include "par/Dialect/Rank/Analysis/Liveness.h"
#include "par/Transforms/Lower/Passes.h"
#include <map>

namespace mlir::par {
#define GEN_PASS_DEF_VERIFYPROGRAM
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;
using rank::Access;
using rank::AccessKind;

namespace {
/// Replays the ops of one function or schedule. A buffer is what it holds: that buffers have their bytes to
/// themselves is for verifyPlaces to find.
class Replay {
public:
  explicit Replay(const SymbolTable &symbols) : symbols(symbols) {}

  LogicalResult run(rank::FuncOp function) {
    unsigned results = function.getResults(), arguments = function.getNumArguments() - results;
    for (unsigned result = 0; result < results; ++result)
      if (std::optional<unsigned> argument = function.getOverwritten(result)) {
        roots[function.getArgument(arguments + result)] = function.getArgument(*argument);
        given.insert(function.getArgument(*argument));
      }
    for (unsigned argument = 0; argument < arguments; ++argument)
      held[function.getArgument(argument)] = {argument, function};
    for (unsigned result = 0; result < results; ++result)
      given.insert(function.getArgument(arguments + result));
    SmallVector<Value> buffers(function.getArguments().take_back(results));
    return success(succeeded(replay(function.getBody().front())) &&
                   succeeded(verifyEnd(function.getBody().front(), buffers)));
  }

  LogicalResult run(rank::ScheduleOp schedule) {
    SmallVector<Value> buffers;
    for (auto slot : schedule.getOps<rank::SlotOp>()) {
      if (rank::isFilled(slot))
        held[slot.getBuffer()] = {static_cast<int64_t>(buffers.size()), slot};
      buffers.push_back(slot.getBuffer());
    }
    return success(succeeded(replay(schedule.getBody().front())) &&
                   succeeded(verifyEnd(schedule.getBody().front(), buffers)));
  }

private:
  struct Content {
    int64_t value;
    Operation *writer;
  };

  /// A buffer that the transport has until a wait.
  struct Flight {
    Operation *start;
    Value root;
    bool isWritten;
  };

  LogicalResult replay(Block &block) {
    for (Operation &op : block) {
      if (auto wait = dyn_cast<rank::WaitOp>(op)) {
        auto start = wait.getEvent().getDefiningOp<rank::StartOp>();
        land(start);
        write(start.getAccesses());
        continue;
      }
      auto exchange = dyn_cast<rank::ExchangeOp>(op);
      if (exchange && failed(landMessage(exchange)))
        return failure();
      auto accessing = dyn_cast<rank::AccessOpInterface>(op);
      if (!accessing)
        continue;
      SmallVector<Access> accesses = accessing.getAccesses();
      for (const Access &access : accesses)
        if (failed(verifyFlights(access)) || failed(verifyAccess(access)))
          return failure();
      if (failed(verifyAliases(&op)))
        return failure();
      if (isa<rank::StartOp>(op) || (exchange && begins(exchange)))
        takeOff(&op, accesses);
      else
        write(accesses);
    }
    return verifyLanded();
  }

  /// The buffer itself, or the argument whose memory a result has.
  Value getRoot(Value buffer) const {
    auto found = roots.find(buffer);
    return found == roots.end() ? buffer : found->second;
  }
  Value getRoot(const Access &access) const { return getRoot(access.operand->get()); }

  static InFlightDiagnostic emit(Operation *op) { return op->emitOpError("rank-verify-program: "); }

  //===--------------------------------------------------------------------===//
  // What is started
  //===--------------------------------------------------------------------===//

  LogicalResult verifyFlights(const Access &access) {
    for (Flight &flight : flights)
      if (flight.root == getRoot(access) && (flight.isWritten || access.kind != AccessKind::Read)) {
        InFlightDiagnostic error = emit(access.operand->getOwner())
                                   << (access.kind == AccessKind::Read ? "reads" : "writes") << " operand "
                                   << access.operand->getOperandNumber() << ", which is "
                                   << (flight.isWritten ? "written" : "read")
                                   << " by what was started and not waited for";
        error.attachNote(flight.start->getLoc()) << "started here";
        if (auto start = dyn_cast<rank::StartOp>(flight.start))
          error.attachNote(start.getWait().getLoc()) << "waited for here";
        return error;
      }
    return success();
  }

  void takeOff(Operation *start, ArrayRef<Access> accesses) {
    for (const Access &access : accesses) {
      flights.push_back({start, getRoot(access), access.kind != AccessKind::Read});
      if (access.kind != AccessKind::Read)
        held.erase(getRoot(access));
    }
  }

  void land(Operation *start) {
    llvm::erase_if(flights, [&](Flight &flight) { return flight.start == start; });
  }

  static bool begins(rank::ExchangeOp exchange) {
    std::optional<Message> message = getMessage(exchange.getAction());
    return message && message->begins();
  }

  /// A wait ends the oldest message of its kind: that has to be the one which it names, with the same
  /// buffers.
  LogicalResult landMessage(rank::ExchangeOp exchange) {
    std::optional<Message> message = getMessage(exchange.getAction());
    if (!message)
      return success();
    par_begun_messages<rank::ExchangeOp> &kind = messages[message->getKind()];
    if (message->begins()) {
      if (!kind.begin(exchange))
        return emit(exchange) << "begins while " << par_most_messages_under_way
                              << " messages of its kind are under way, which is the most there may be";
      return success();
    }
    std::optional<rank::ExchangeOp> begun = kind.end();
    if (!begun)
      return emit(exchange) << "waits for a message that has not begun";
    if (getMessage(begun->getAction())->getId() != message->getId())
      return failWait(exchange, *begun)
             << "waits for a message of micro-batch " << message->microBatch
             << ", but the oldest of its kind under way, which a wait ends, is of micro-batch "
             << begun->getMicroBatch();
    if (begun->getBuffers() != exchange.getBuffers())
      return failWait(exchange, *begun) << "waits for a message with other buffers than it began with";
    land(*begun);
    return success();
  }

  static InFlightDiagnostic failWait(rank::ExchangeOp exchange, rank::ExchangeOp begun) {
    InFlightDiagnostic error = emit(exchange);
    error.attachNote(begun.getLoc()) << "begun here";
    return error;
  }

  LogicalResult verifyLanded() const {
    for (const Flight &flight : flights)
      if (isa<rank::ExchangeOp>(flight.start))
        return emit(flight.start) << "begins a message that is never waited for";
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  LogicalResult verifyAccess(const Access &access) {
    Operation *op = access.operand->getOwner();
    Value root = getRoot(access);
    if (access.kind == AccessKind::Read)
      return verifyHeld(op, "operand " + Twine(access.operand->getOperandNumber()), root, access.value);
    if (!isa<BlockArgument>(root) || given.contains(root))
      return success();
    InFlightDiagnostic error = emit(op) << "writes argument " << cast<BlockArgument>(root).getArgNumber()
                                        << ", which no result overwrites";
    error.attachNote(op->getParentOp()->getLoc()) << "the function";
    return error;
  }

  /// `value` lies in the buffer, or any if the op does not say which.
  LogicalResult verifyHeld(Operation *op, const Twine &what, Value root, std::optional<int64_t> value) {
    auto found = held.find(root);
    if (found != held.end() && (!value || found->second.value == *value))
      return success();
    InFlightDiagnostic error = emit(op) << "finds ";
    found == held.end() ? error << "nothing" : error << "value " << found->second.value;
    error << " in " << what.str() << ", expected ";
    value ? error << "value " << *value : error << "what an op before it has written";
    if (found != held.end())
      error.attachNote(found->second.writer->getLoc()) << "written here last";
    error.attachNote(root.getLoc()) << "the buffer";
    for (Operation *user : root.getUsers())
      if (auto other = dyn_cast<rank::AccessOpInterface>(user); other && value)
        for (const Access &access : other.getAccesses())
          if (access.kind == AccessKind::Write && access.value == value && getRoot(access) == root)
            error.attachNote(user->getLoc()) << "value " << *value << " is written here";
    return error;
  }

  void write(ArrayRef<Access> accesses) {
    for (const Access &access : accesses)
      if (access.kind == AccessKind::Write)
        held[getRoot(access)] = {access.value.value_or(--unnamed), access.operand->getOwner()};
      else if (access.kind == AccessKind::Clobber)
        held.erase(getRoot(access));
  }

  LogicalResult verifyEnd(Block &block, ArrayRef<Value> buffers) {
    auto exit = cast<rank::ReturnOp>(block.getTerminator());
    std::optional<ArrayRef<int64_t>> values = exit.getValues();
    if (values && values->size() != buffers.size())
      return emit(exit) << "says the values of " << values->size() << " buffers, expected " << buffers.size();
    for (auto [number, buffer] : llvm::enumerate(buffers)) {
      if (values ? (*values)[number] < 0 : !mustHold(buffer))
        continue;
      if (failed(verifyHeld(exit, "what is given back " + Twine(number), getRoot(buffer),
                            values ? std::optional((*values)[number]) : std::nullopt)))
        return failure();
    }
    return success();
  }

  /// Where nothing is said: results and what outlives a step.
  static bool mustHold(Value buffer) {
    auto slot = buffer.getDefiningOp<rank::SlotOp>();
    return !slot || slot.getKind() == rank::SlotKind::Variable || slot.getKind() == rank::SlotKind::Output;
  }

  //===--------------------------------------------------------------------===//
  // Aliases
  //===--------------------------------------------------------------------===//

  LogicalResult verifyAliases(Operation *op) {
    if (auto copy = dyn_cast<rank::CopyOp>(op))
      return getRoot(copy.getSource()) == getRoot(copy.getTarget()) ? emit(op) << "copies a buffer to itself"
                                                                    : success();
    if (auto work = dyn_cast<rank::WorkOpInterface>(op))
      return verifyOperands(op, work.getIns(), work.getOuts(), work.getScratch(),
                            [&](unsigned in, unsigned out) { return mayShare(work, in, out); });
    if (auto call = dyn_cast<rank::CallOp>(op))
      return verifyCall(call, static_cast<int64_t>(call.getParts()));
    if (auto action = dyn_cast<rank::ActionOp>(op))
      return verifyCall(action, /*parts=*/1);
    if (auto exchange = dyn_cast<rank::ExchangeOp>(op))
      return verifyOperands(op, exchange.getIns(), exchange.getOuts(), {},
                            [](unsigned in, unsigned out) { return in == out; });
    return success();
  }

  static bool mayShare(rank::WorkOpInterface work, unsigned in, unsigned out) {
    SmallVector<Operation *> ops;
    for (Operation &op : work.getBody().front().without_terminator())
      ops.push_back(&op);
    Value read = work.getBody().getArgument(in),
          written = work.getBody().front().getTerminator()->getOperand(out);
    return !rank::isStartedTransfer(work) &&
           (par::mayShare(ops, read, written) || findSum(ops, written) == read);
  }

  /// Every out and `own`, which means nothing afterwards, is a buffer of its own but for the ins that it may
  /// be in place of, and for outs that are one value.
  LogicalResult verifyOperands(Operation *op, OperandRange ins, OperandRange outs, ValueRange own,
                               llvm::function_ref<bool(unsigned, unsigned)> mayShare,
                               llvm::function_ref<bool(unsigned, unsigned)> isOne = nullptr) {
    llvm::SmallDenseMap<Value, unsigned> written;
    for (auto [number, buffer] :
         llvm::enumerate(llvm::concat<Value>(SmallVector<Value>(outs), SmallVector<Value>(own))))
      if (auto [first, isNew] = written.try_emplace(getRoot(buffer), number);
          !isNew && !(isOne && number < outs.size() && isOne(first->second, number)))
        return emit(op) << "writes two values to one buffer";
    for (auto [in, buffer] : llvm::enumerate(ins)) {
      auto found = written.find(getRoot(buffer));
      if (found == written.end() || (found->second < outs.size() && mayShare(in, found->second)))
        continue;
      InFlightDiagnostic error = emit(op) << "writes over input " << in << ", of which it may read more then";
      error.attachNote(getRoot(buffer).getLoc()) << "the buffer";
      return error;
    }
    return success();
  }

  template <typename Op>
  LogicalResult verifyCall(Op op, int64_t parts) {
    auto callee = symbols.lookup<rank::FuncOp>(op.getCalleeAttr().getAttr());
    for (unsigned result = 0; result < callee.getResults(); ++result) {
      std::optional<unsigned> argument = callee.getOverwritten(result);
      if (argument && getRoot(op.getIns()[*argument]) != getRoot(op.getOuts()[result])) {
        InFlightDiagnostic error = emit(op) << "gives result " << result << " another buffer than argument "
                                            << *argument << ", which it overwrites";
        error.attachNote(callee.getLoc()) << "the callee";
        return error;
      }
      if (!argument && parts > 1 && isWhole(op, callee, op.getIns().size() + result))
        return emit(op) << "gives every call the same buffer for result " << result
                        << ", which overwrites no argument: only the last call's would remain";
    }
    return verifyOperands(
        op, op.getIns(), op.getOuts(), ValueRange(op.getFrame()),
        [&](unsigned in, unsigned out) { return callee.getOverwritten(out) == in; },
        // Within the callee they are one buffer, which holds what both return at its end.
        [&](unsigned first, unsigned second) {
          std::optional<unsigned> argument = callee.getOverwritten(first);
          return argument && argument == callee.getOverwritten(second);
        });
  }

  static bool isWhole(rank::CallOp call, rank::FuncOp callee, unsigned operand) {
    return call.getStride(operand, callee) == 0;
  }
  static bool isWhole(rank::ActionOp, rank::FuncOp, unsigned) { return true; }

  const SymbolTable &symbols;
  llvm::DenseMap<Value, Value> roots; ///< results that overwrite an argument → the argument
  llvm::DenseSet<Value> given;        ///< arguments that may be written
  llvm::DenseMap<Value, Content> held;
  SmallVector<Flight> flights;
  /// Messages that have begun and were not waited for: what is received, and what is sent.
  std::map<Message::Kind, par_begun_messages<rank::ExchangeOp>> messages; ///< under way
  int64_t unnamed = -1; ///< values of which no op says the number
};

struct VerifyProgram : par::impl::VerifyProgramBase<VerifyProgram> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    if (failed(verifyPlaces(getOperation(), symbols)) || failed(verifyValues(symbols)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult verifyValues(const SymbolTable &symbols) {
    for (auto function : getOperation().getOps<rank::FuncOp>())
      if (failed(Replay(symbols).run(function)))
        return failure();
    for (auto schedule : getOperation().getOps<rank::ScheduleOp>())
      if (failed(Replay(symbols).run(schedule)))
        return failure();
    return success();
  }
};
} // namespace

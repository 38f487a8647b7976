//===- RankInterpreter.h - evaluates rank programs over their arena ---------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_RANKINTERPRETER_H
#define PAR_INTERPRETER_RANKINTERPRETER_H

#include "par/BegunMessages.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Interpreter/StepInterpreter.h"
#include "par/Schedule/Messages.h"
#include <memory>

namespace mlir::par {

/// The memory of one rank: what each byte is part of, so that an element that was not written, or of which a
/// later write took a byte, is seen when it is read. Elements keep f64: programs are compared as closely here
/// as on tensors.
class InterpretedArena {
public:
  explicit InterpretedArena(int64_t bytes) : states(bytes, State::Dead), values(bytes) {}

  void write(int64_t offset, const Tensor &tensor);
  /// Nothing where an element is not whole.
  std::optional<Tensor> read(int64_t offset, RankedTensorType type) const;
  /// The range holds nothing any more.
  void discard(int64_t offset, int64_t bytes);
  void copy(int64_t from, int64_t to, int64_t bytes);
  bool contains(int64_t offset, int64_t bytes) const {
    return offset >= 0 && offset + bytes <= static_cast<int64_t>(states.size());
  }

private:
  enum class State : uint8_t { Dead, First, Further };

  std::vector<State> states;
  std::vector<double> values; ///< at the first byte of an element
};

/// Runs the `rank.schedule train` of a module on all ranks in lockstep, over one arena per rank: every
/// kernel, product, attention and collective is what its region says, read from and written to the planned
/// offsets. A buffer is dead until its producer writes it, so a wrong offset or lifetime is an error, not a
/// number. What a started collective brings appears at its wait; until then nobody may write what it reads or
/// touch what it writes. Stages have arenas of their own, and run in turns: each until it waits for what
/// another one sends.
class RankInterpreter : public StepInterpreter {
public:
  /// Null after emitting an error: no schedule, or memory that was not planned.
  static std::unique_ptr<RankInterpreter> create(ModuleOp module);

  bool setVariable(StringRef name, const Tensor &value) override;
  std::optional<Tensor> getVariable(StringRef name) override;
  std::map<std::string, Tensor> getVariables(Role role) override;
  void setRounding(bool on) override { interpreter.setRounding(on); }
  FailureOr<TrainResult> step(const TrainStep &step) override;
  FailureOr<Tensor> logits(const TrainStep &step) override;

private:
  /// Buffers of the function being evaluated, as offsets in the arena; equal on all ranks.
  using Offsets = llvm::DenseMap<Value, int64_t>;

  /// A collective that was started and not waited for.
  struct Started {
    Operation *start;
    std::vector<Tensors> results; ///< by rank
    struct Range {
      int64_t offset, bytes;
      bool isWritten;
    };
    SmallVector<Range> ranges; ///< of the arena, that are its own until the wait
    SmallVector<int64_t> outs; ///< offsets
  };

  /// The way from one stage to another: message number n that one end begins is number n of the other end,
  /// whatever both call it, as on a transport.
  struct Route {
    std::vector<std::vector<Tensors>> sent; ///< what messages hold
    size_t received = 0;                    ///< how many the receiver has begun
  };
  /// A message under way at one end.
  struct BegunMessage {
    rank::ExchangeOp exchange;
    size_t number = 0; ///< on its route
  };
  /// A stage's list, and where in it the stage is.
  struct Running {
    rank::ScheduleOp schedule;
    Block::iterator next;
  };

  RankInterpreter(ModuleOp module, MeshAttr mesh);
  /// It is the turn of this schedule's stage.
  void enter(rank::ScheduleOp schedule);
  LogicalResult initialise();
  LogicalResult findSlots(rank::ScheduleOp schedule);
  LogicalResult fillSlot(rank::SlotOp slot, const TrainStep &step);
  LogicalResult runFunction(rank::FuncOp function, int64_t frame, ArrayRef<int64_t> buffers);
  LogicalResult evaluate(Operation &op, int64_t frame, Offsets &offsets);
  LogicalResult evaluateWork(rank::WorkOpInterface work, const Offsets &offsets);
  FailureOr<std::vector<Tensors>> computeWork(rank::WorkOpInterface work, const Offsets &offsets);
  LogicalResult evaluateStart(rank::StartOp start, const Offsets &offsets);
  LogicalResult evaluateWait(rank::WaitOp wait);
  LogicalResult checkStarted(Operation *op, int64_t offset, int64_t bytes, bool writes) const;
  LogicalResult evaluateCall(rank::CallOp call, const Offsets &offsets);
  LogicalResult checkBounds(Operation *op, int64_t offset, int64_t bytes) const;
  LogicalResult run(ArrayRef<rank::ScheduleOp> schedules, const TrainStep &step);
  LogicalResult advance(Running &each, bool &progress);
  LogicalResult runAction(rank::ActionOp action);
  FailureOr<bool> runExchange(rank::ExchangeOp exchange);
  FailureOr<bool> runSum(rank::ExchangeOp exchange);
  FailureOr<bool> runWait(rank::ExchangeOp exchange, const Message &message);
  LogicalResult land(const BegunMessage &begun, const Route &route, bool isAtSender);
  Route &getRoute(rank::ExchangeOp exchange, bool isAtSender);
  LogicalResult discardReceived(rank::ExchangeOp exchange);
  void takeOff(rank::ExchangeOp exchange, bool isWritten);
  FailureOr<std::vector<Tensors>> readSlots(rank::ExchangeOp exchange);
  void writeSlots(rank::ExchangeOp exchange, const std::vector<Tensors> &values);
  static bool isAt(Operation &next, const Action &action);
  static int64_t getStage(const Running &each);
  static void add(std::vector<Tensors> &sum, const std::vector<Tensors> &values);
  FailureOr<Tensor> readWhole(rank::SlotOp slot);
  FailureOr<rank::SlotOp> findOutput(ArrayRef<rank::ScheduleOp> schedules, OutputKind output);
  FailureOr<double> readScalar(rank::SlotOp slot);
  FailureOr<Tensors> readAll(Operation *op, int64_t offset, RankedTensorType type) const;
  void writeAll(int64_t offset, const Tensors &tensors);

  ModuleOp module;
  SmallVector<rank::ScheduleOp> stages; ///< the schedules to train
  SymbolTable symbols;
  Interpreter interpreter;
  /// Host memory lies behind the arena.
  int64_t getAddress(rank::SlotOp slot) const {
    return static_cast<int64_t>(*slot.getOffset()) + (rank::isOnDevice(slot.getBuffer()) ? 0 : hostBegin);
  }

  int64_t hostBegin = 0;
  std::vector<InterpretedArena> allArenas; ///< of all ranks of every stage
  MutableArrayRef<InterpretedArena> arenas;
  std::vector<Started> started;
  uint64_t stage = 0; ///< whose turn it is
  // Of the present step.
  SmallVector<Running> running;
  std::map<std::pair<uint64_t, uint64_t>, Route> routes; ///< by sending and receiving stage
  std::map<std::pair<uint64_t, Message::Kind>, par_begun_messages<BegunMessage>>
      messages;                                     ///< under way, by stage
  std::map<uint64_t, std::vector<Started>> flights; ///< memory of messages under way, by stage
  std::multimap<std::string, rank::SlotOp> slots;   ///< of variables, by every name that a slot holds
};

} // namespace mlir::par

#endif // PAR_INTERPRETER_RANKINTERPRETER_H

//===- NumberWork.cpp - numbers work and collectives as the manifest lists them -------------------------===//
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_NUMBERWORK
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// Numbers of what crosses stages, as one program lists them.
class ExchangeNumbers {
public:
  explicit ExchangeNumbers(int64_t collectives) : nextCollective(collectives) {}

  void number(rank::ScheduleOp schedule) {
    for (auto exchange : schedule.getOps<rank::ExchangeOp>()) {
      std::optional<Message> message = getMessage(exchange.getAction());
      exchange.setNumber(message ? getNumber(schedule.getPurpose(), *message) : nextCollective++);
    }
  }

private:
  /// One for all micro-batches: they are of the same sizes, between the same ranks.
  int64_t getNumber(rank::Purpose purpose, const Message &message) {
    auto next = static_cast<int64_t>(messages.size());
    return messages.try_emplace({purpose, message.getKind()}, next).first->second;
  }

  std::map<std::pair<rank::Purpose, Message::Kind>, int64_t> messages;
  int64_t nextCollective;
};

struct NumberWork : par::impl::NumberWorkBase<NumberWork> {
  void runOnOperation() override {
    Builder builder(&getContext());
    int64_t work = 0, collectives = 0;
    getOperation().walk([&](Operation *op) {
      if (isa<rank::WorkOpInterface, rank::CopyOp>(op))
        op->setAttr("work", builder.getI64IntegerAttr(work++));
      if (rank::isCollective(op))
        op->setAttr("number", builder.getI64IntegerAttr(collectives++));
    });
    std::map<std::optional<uint64_t>, ExchangeNumbers> programs;
    for (auto schedule : getOperation().getOps<rank::ScheduleOp>())
      programs.try_emplace(schedule.getStage(), collectives).first->second.number(schedule);
  }
};
} // namespace

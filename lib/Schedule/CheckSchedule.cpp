//===- CheckSchedule.cpp - what lists must have, whatever their order -----------------------------------===//
#include "ActionProducts.h"
#include "par/BegunMessages.h"
#include "par/Support/MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <map>
#include <set>

using namespace llvm;

namespace mlir::par {

namespace {
class Checker {
public:
  Checker(const PipelineSchedule &schedule, SmallVectorImpl<ActionPlace> &faults)
      : schedule(schedule), faults(faults), chunks(schedule.getNumChunks()),
        microBatches(schedule.shape.microBatches) {}

  /// Every chunk goes forward and back with every micro-batch once, on its stage, by `Backward` or by both
  /// parts; in a whole step it also sends, receives and is updated.
  Error run() {
    bool isForwardOnly = schedule.step && schedule.step->forwardOnly;
    if ((!isForwardOnly && schedule.shape.getNumChunks() != chunks) ||
        int64_t(schedule.stages.size()) != schedule.shape.stages)
      return makeError("the schedule has lists for " + Twine(schedule.stages.size()) +
                       " stages and places for " + Twine(schedule.stageOfChunk.size()) +
                       " chunks, expected " + Twine(schedule.shape.stages) + " and " +
                       Twine(schedule.shape.getNumChunks()));
    seen.resize(size_t(chunks * microBatches));
    for (auto [stage, actions] : enumerate(schedule.stages))
      for (auto [position, action] : enumerate(actions)) {
        faults.assign({{stage, position}});
        if (Error error = isSum(action.kind) ? checkSum(stage, action) : checkAction(stage, action))
          return error;
      }
    faults.clear();
    for (auto [index, mask] : enumerate(seen))
      if (Error error = checkDone(int64_t(index) / microBatches, int64_t(index) % microBatches, mask))
        return error;
    if (!schedule.step)
      return Error::success();
    if (Error error = checkSums())
      return error;
    if (Error error = checkQueues())
      return error;
    for (size_t stage = 0; stage < schedule.stages.size(); ++stage)
      if (Error error = checkWaits(stage))
        return error;
    return Error::success();
  }

private:
  bool isElsewhere(size_t stage, int64_t chunk) const {
    return schedule.stageOfChunk[size_t(chunk)] != int64_t(stage);
  }

  Error checkAction(size_t stage, const Action &action) {
    if (!schedule.step && !isOrdered(action.kind))
      return makeError("stage " + Twine(stage) + " has " + schedule.describe(action) +
                       ", which only the list of a whole step has");
    bool known = isPerStep(action.kind) ? action.microBatch == -1
                                        : action.microBatch >= 0 && action.microBatch < microBatches;
    if (action.chunk < 0 || action.chunk >= chunks || !known)
      return makeError("stage " + Twine(stage) + " names chunk " + Twine(action.chunk) + ", micro-batch " +
                       Twine(action.microBatch) + "; there are " + Twine(chunks) + " and " +
                       Twine(microBatches));
    if (isElsewhere(stage, action.chunk))
      return makeError("stage " + Twine(stage) + " has " + schedule.describe(action) + " of chunk " +
                       Twine(action.chunk) + ", which is on stage " +
                       Twine(schedule.stageOfChunk[size_t(action.chunk)]));
    for (Product product : getProducts(action.kind)) {
      // What is made once per step stands at micro-batch 0.
      uint32_t &mask =
          seen[size_t(action.chunk * microBatches + (product < Gathered ? action.microBatch : 0))];
      if (mask & 1u << product)
        return failTwice(stage, action);
      mask |= 1u << product;
    }
    return Error::success();
  }

  Error failTwice(size_t stage, const Action &action) const {
    return makeError("stage " + Twine(stage) + " has " + schedule.describe(action) + " twice");
  }

  Error checkDone(int64_t chunk, int64_t microBatch, uint32_t mask) const {
    uint32_t passes = 1u << Activation;
    bool isForwardOnly = schedule.step && schedule.step->forwardOnly;
    if (!isForwardOnly)
      passes |= 1u << InputGradient | 1u << WeightGradient;
    if ((mask & passes) != passes)
      return makeError("chunk " + Twine(chunk) + " does not go through micro-batch " + Twine(microBatch + 1) +
                       (isForwardOnly ? "" : " forward and back"));
    uint32_t others = schedule.step ? getExpected(chunk, microBatch) : 0;
    if ((mask & ~passes) != others)
      return makeError("chunk " + Twine(chunk) + " does not " + describe((mask & ~passes) ^ others) +
                       " once where that is needed" +
                       (microBatch == 0 ? Twine("") : ", in micro-batch " + Twine(microBatch + 1)));
    return Error::success();
  }

  /// Beside both passes.
  uint32_t getExpected(int64_t chunk, int64_t microBatch) const {
    auto isApart = [&](int64_t other) {
      return other >= 0 && other < chunks && isElsewhere(size_t(schedule.stageOfChunk[size_t(chunk)]), other);
    };
    bool goesBack = !schedule.step->forwardOnly;
    uint32_t expected = 0;
    if (isApart(chunk - 1))
      expected |= 1u << ReceiveOfActivation | 1u << ReceivedActivation |
                  (goesBack ? 1u << SendOfGradient | 1u << SentGradient : 0);
    if (isApart(chunk + 1))
      expected |= 1u << SendOfActivation | 1u << SentActivation |
                  (goesBack ? 1u << ReceiveOfGradient | 1u << ReceivedGradient : 0);
    if (microBatch == 0 && schedule.step->gathers)
      expected |= 1u << Gathered;
    if (microBatch == 0 && schedule.step->updates)
      expected |= 1u << Reduced | 1u << Normed | 1u << Updated;
    return expected;
  }

  static std::string describe(uint32_t products) {
    std::string text;
    for (int product = SendOfActivation; product < kProducts; ++product)
      if (products & 1u << product)
        text += (text.empty() ? "" : ", ") + stringifyActionKind(getMaker(Product(product))).str();
    return text;
  }

  //===--------------------------------------------------------------------===//
  // Sums
  //===--------------------------------------------------------------------===//

  bool takesPart(size_t stage, const Action &sum) const {
    if (sum.kind == ActionKind::SumSquares)
      return sum.chunk == 0 && schedule.shape.stages > 1 && schedule.step->updates;
    return sum.chunk >= 0 && sum.chunk < int64_t(schedule.step->tied.size()) &&
           is_contained(schedule.step->tied[size_t(sum.chunk)], int64_t(stage));
  }

  Error checkSum(size_t stage, const Action &sum) {
    if (!schedule.step || sum.microBatch != -1 || !takesPart(stage, sum))
      return makeError("stage " + Twine(stage) + " has " + schedule.describe(sum) +
                       ", a sum in which it has no part");
    return sums.insert({stage, sum.kind, sum.chunk}).second ? Error::success() : failTwice(stage, sum);
  }

  Error checkSums() const {
    for (size_t stage = 0; stage < schedule.stages.size(); ++stage) {
      auto lacks = [&](Action sum) {
        return takesPart(stage, sum) && !sums.count({stage, sum.kind, sum.chunk});
      };
      for (int64_t set = 0; set < int64_t(schedule.step->tied.size()); ++set)
        if (lacks({ActionKind::SumGradients, set, -1}))
          return makeError("stage " + Twine(stage) + " does not sum_gradients " + Twine(set + 1) +
                           " with the other stages that share parameters with it");
      if (lacks({ActionKind::SumSquares, 0, -1}))
        return makeError("stage " + Twine(stage) + " does not sum_squares with the other stages");
    }
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // Queues
  //===--------------------------------------------------------------------===//

  struct Begun {
    Message message;
    ActionPlace place;
  };

  /// A wait ends the oldest message of its kind that is under way, so that one has to be the one that it
  /// names.
  Error checkWaits(size_t stage) {
    std::map<Message::Kind, par_begun_messages<size_t>> kinds; // positions in the list
    std::map<std::pair<bool, int64_t>, size_t> underWay;       // to or from another stage
    for (auto [position, action] : enumerate(schedule.stages[stage])) {
      std::optional<Message> message = getMessage(action);
      if (!message)
        continue;
      par_begun_messages<size_t> &kind = kinds[message->getKind()];
      size_t &onRoute = underWay[{message->isAtSender(), schedule.stageOfChunk[size_t(message->getOther())]}];
      if (message->begins()) {
        if (++onRoute > par_most_messages_under_way || !kind.begin(position))
          return failTooMany(stage, position);
        continue;
      }
      --onRoute;
      std::optional<size_t> ends = kind.end();
      if (!ends || getMessage(schedule.stages[stage][*ends])->getId() != message->getId())
        return failWait(stage, position, ends);
    }
    return Error::success();
  }

  Error failTooMany(size_t stage, size_t position) {
    faults.assign({{stage, position}});
    return makeError(
        "stage " + Twine(stage) + " begins " + describe({stage, position}) + " while " +
        Twine(par_most_messages_under_way) + " messages with stage " +
        Twine(schedule.stageOfChunk[size_t(getMessage(schedule.stages[stage][position])->getOther())]) +
        " are under way, which is the most there may be");
  }

  Error failWait(size_t stage, size_t position, std::optional<size_t> ends) {
    faults.assign({{stage, position}});
    if (ends)
      faults.push_back({stage, *ends});
    return makeError("stage " + Twine(stage) + " waits for " + describe({stage, position}) + " where " +
                     (ends ? "the oldest message of its kind under way is " + describe({stage, *ends})
                           : std::string("no message of its kind is under way")) +
                     ": a wait ends the oldest one");
  }

  /// What one stage sends to another one, that one receives in the same order.
  Error checkQueues() {
    std::map<std::pair<int64_t, int64_t>, std::array<std::vector<Begun>, 2>> queues; // sends, receives
    for (auto [stage, actions] : enumerate(schedule.stages))
      for (auto [position, action] : enumerate(actions))
        if (std::optional<Message> message = getMessage(action))
          if (message->begins())
            queues[{schedule.stageOfChunk[size_t(message->from)], schedule.stageOfChunk[size_t(message->to)]}]
                  [!message->isAtSender()]
                      .push_back({*message, {stage, position}});
    for (auto &[stages, ends] : queues)
      for (auto [send, receive] : zip(ends[0], ends[1]))
        if (send.message.getId() != receive.message.getId()) {
          faults.assign({receive.place, send.place});
          return makeError(
              "stage " + Twine(stages.second) + " begins " + describe(receive.place) + " where stage " +
              Twine(stages.first) + " begins " + describe(send.place) +
              ": messages from one stage to another are received in the order in which they are sent");
        }
    return Error::success();
  }

  std::string describe(ActionPlace place) const {
    return schedule.describe(schedule.stages[place.stage][place.position]);
  }

  const PipelineSchedule &schedule;
  SmallVectorImpl<ActionPlace> &faults;
  int64_t chunks, microBatches;
  std::vector<uint32_t> seen; ///< by chunk and micro-batch: products, as bits
  std::set<std::tuple<size_t, ActionKind, int64_t>> sums;
};
} // namespace

Error checkActions(const PipelineSchedule &schedule, SmallVectorImpl<ActionPlace> &faults) {
  return Checker(schedule, faults).run();
}

} // namespace mlir::par

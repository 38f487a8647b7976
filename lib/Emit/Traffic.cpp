//===- Traffic.cpp - what ranks send each other in a step -----------------------------------------------===//
#include "Traffic.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Plan/Plan.h"
#include "par/Support/FoldLayers.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

namespace {
class TrafficList {
public:
  TrafficList(ModuleOp module, ArrayRef<Stage> stages)
      : module(module), mesh(getMesh(module)), stages(stages) {}

  json::Array run() {
    for (size_t stage = 0; stage < stages.size(); ++stage) {
      addCollectives(stage);
      addExchanges(stage);
    }
    return std::move(traffic);
  }

private:
  void addTraffic(size_t stage, StringRef kind, json::Array axes, int64_t bytes, int64_t count,
                  StringRef cause, const std::set<int64_t> &layers = {}) {
    json::Object entry{{"kind", kind.str()},
                       {"axes", std::move(axes)},
                       {"bytes", bytes},
                       {"count", count},
                       {"cause", cause.str()}};
    if (layers.size() > 1)
      entry["layers"] = json::Array(layers);
    if (stages.size() > 1)
      entry["stage"] = static_cast<int64_t>(stage);
    traffic.push_back(std::move(entry));
  }

  /// Of a function that layers share, the cause that was found names one of all, or of another stage.
  static std::string nameLayers(std::string cause, const std::set<int64_t> &layers) {
    if (layers.empty())
      return cause;
    return foldLayer(cause, layers.size() > 1 ? "*" : std::to_string(*layers.begin())).text;
  }

  void addCollectives(size_t stage) {
    module.walk([&](rank::WorkOpInterface op) {
      int64_t times = rank::isCollective(op) ? stages[stage].countRuns(op) : 0;
      if (times == 0)
        return;
      CollectiveOpInterface content = getCollective(op);
      json::Array axes;
      for (StringRef axis : mesh.getUserAxes(content.getCollectiveAxes()))
        axes.push_back(axis.str());
      auto once = static_cast<int64_t>(content.getWireBytes(countMembers(content, mesh)));
      std::set<int64_t> layers = stages[stage].getLayers(op);
      addTraffic(stage, content.getCollectiveKind(), std::move(axes), once * times, times,
                 nameLayers(getCause(op), layers), layers);
    });
  }

  /// What a stage sends, and sums over stages, which a ring sends.
  void addExchanges(size_t stage) {
    std::map<ActionKind, std::pair<int64_t, int64_t>> sums; // bytes and calls
    for (auto exchange : rank::ScheduleOp(stages[stage].train).getOps<rank::ExchangeOp>()) {
      std::optional<Message> message = getMessage(exchange.getAction());
      if (message && message->part != MessagePart::Send)
        continue;
      int64_t bytes = 0, members = static_cast<int64_t>(exchange.getStages().size());
      for (Value buffer : exchange.getBuffers())
        bytes += rank::getBytes(buffer);
      auto &[total, count] = sums[exchange.getKind()];
      total += message ? bytes : 2 * bytes * (members - 1) / members;
      ++count;
    }
    for (auto &[kind, sum] : sums)
      addTraffic(stage, isSum(kind) ? "all_reduce" : "send",
                 json::Array{getAxisName(AxisRole::Pipeline).str()}, sum.first, sum.second,
                 stringifyActionKind(kind));
  }

  ModuleOp module;
  MeshAttr mesh;
  ArrayRef<Stage> stages;
  json::Array traffic;
};
} // namespace

json::Array par::describeTraffic(ModuleOp module, ArrayRef<Stage> stages) {
  return TrafficList(module, stages).run();
}

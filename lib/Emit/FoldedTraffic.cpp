//===- FoldedTraffic.cpp - what ranks send in a step, layers that say the same as one -------------------===//
#include "par/Emit/FoldedTraffic.h"
#include "par/Support/FoldLayers.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace mlir::par;

static std::string printAxes(const llvm::json::Object &entry) {
  std::string text;
  for (const llvm::json::Value &axis : *entry.getArray("axes"))
    text += (text.empty() ? "" : " ") + axis.getAsString()->str();
  return text;
}

namespace {
/// A row, and whose it is as far as a manifest says: layers that share a function are one entry.
struct CauseRow {
  TrafficRow row;
  std::set<int64_t> layers;
};
} // namespace

static std::set<int64_t> getLayers(const llvm::json::Object &entry) {
  std::set<int64_t> layers;
  if (const llvm::json::Array *numbers = entry.getArray("layers"))
    for (const llvm::json::Value &number : *numbers)
      layers.insert(*number.getAsInteger());
  return layers;
}

/// A row per stage, kind, axes and cause: layers apart that share no function, and what no layer does apart.
static std::vector<CauseRow> sumByCause(const llvm::json::Array &collectives, bool causes) {
  std::map<std::tuple<int64_t, std::string, std::string, std::string, bool>, CauseRow> sums;
  for (const llvm::json::Value &value : collectives) {
    const llvm::json::Object &entry = *value.getAsObject();
    TrafficRow row{entry.getInteger("stage").value_or(0), entry.getString("kind")->str(), printAxes(entry),
                   causes ? entry.getString("cause")->str() : ""};
    std::set<int64_t> layers = causes ? getLayers(entry) : std::set<int64_t>();
    CauseRow &sum =
        sums.try_emplace({row.stage, row.kind, row.axes, row.cause, layers.empty()}, CauseRow{row, {}})
            .first->second;
    sum.row.bytes += *entry.getInteger("bytes");
    sum.row.calls += *entry.getInteger("count");
    sum.layers.merge(layers);
  }
  std::vector<CauseRow> rows;
  for (auto &[key, row] : sums)
    rows.push_back(std::move(row));
  return rows;
}

/// Adds up rows that say the same of different layers.
static std::vector<TrafficRow> foldRows(std::vector<CauseRow> rows) {
  std::map<std::tuple<int64_t, std::string, std::string, std::string, int64_t, int64_t>, size_t> places;
  std::vector<TrafficRow> folded;
  for (auto &[row, layers] : rows) {
    LayerText cause = foldLayer(row.cause);
    row.layers = static_cast<int64_t>(layers.size());
    if (!cause.layer) { // texts that name no layer differ
      folded.push_back(std::move(row));
      continue;
    }
    auto [place, isNew] =
        places.try_emplace({row.stage, row.kind, row.axes, cause.text, row.bytes, row.calls}, folded.size());
    if (isNew) {
      folded.push_back(std::move(row));
      continue;
    }
    TrafficRow &sum = folded[place->second];
    sum.cause = cause.text;
    sum.layers = std::max<int64_t>(sum.layers, 1) + 1;
    sum.bytes += row.bytes, sum.calls += row.calls;
  }
  return folded;
}

std::vector<TrafficRow> mlir::par::foldTraffic(const llvm::json::Array &collectives, bool causes) {
  std::vector<TrafficRow> rows = foldRows(sumByCause(collectives, causes));
  llvm::sort(rows, [](const TrafficRow &a, const TrafficRow &b) {
    return std::tie(b.bytes, a.stage, a.kind, a.axes, a.cause) <
           std::tie(a.bytes, b.stage, b.kind, b.axes, b.cause);
  });
  return rows;
}

std::vector<TrafficRow> mlir::par::takeLargestStages(std::vector<TrafficRow> rows) {
  using Key = std::tuple<std::string, std::string, std::string>;
  auto keyOf = [](const TrafficRow &row) { return Key(row.kind, row.axes, foldLayer(row.cause).text); };
  std::map<Key, std::map<int64_t, int64_t>> bytes; // by stage
  for (const TrafficRow &row : rows)
    bytes[keyOf(row)][row.stage] += row.bytes;
  llvm::erase_if(rows, [&](const TrafficRow &row) {
    auto &stages = bytes[keyOf(row)];
    auto largest =
        std::max_element(stages.begin(), stages.end(), [](auto &a, auto &b) { return a.second < b.second; });
    return row.stage != largest->first;
  });
  return rows;
}

//===- FoldedMemory.cpp - what is live at the peak, equal buffers as one --------------------------------===//
#include "par/Emit/FoldedMemory.h"
#include "par/Support/FoldLayers.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>
#include <tuple>

using namespace mlir::par;

std::string BufferRow::count() const {
  if (buffers == 1)
    return "";
  if (buffers == layers)
    return std::to_string(layers) + " layers";
  return std::to_string(buffers) + " buffers" + (layers ? " of " + std::to_string(layers) + " layers" : "");
}

std::vector<BufferRow> mlir::par::foldLiveAtPeak(const MemoryProfile &profile) {
  using Key = std::tuple<rank::Category, std::string, std::string, int64_t>;
  std::map<Key, std::pair<size_t, std::set<int64_t>>> places; // row and its layers
  std::vector<BufferRow> rows;
  for (const LiveBuffer *buffer : profile.getLiveAtPeak()) {
    LayerText name = foldLayer(buffer->name);
    auto [entry, isNew] = places.try_emplace({buffer->category, name.text, buffer->type, buffer->bytes},
                                             rows.size(), std::set<int64_t>());
    auto &[place, layers] = entry->second;
    if (isNew)
      rows.push_back({buffer->category, buffer->name, buffer->type});
    if (name.layer)
      layers.insert(*name.layer);
    BufferRow &row = rows[place];
    row.bytes += buffer->bytes, ++row.buffers;
    if (layers.size() > 1)
      row.name = name.text, row.layers = static_cast<int64_t>(layers.size());
  }
  llvm::sort(rows, [](const BufferRow &a, const BufferRow &b) {
    return std::tie(b.bytes, a.category, a.name, a.type) < std::tie(a.bytes, b.category, b.name, b.type);
  });
  return rows;
}

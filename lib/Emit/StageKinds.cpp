//===- StageKinds.cpp - stages of a pipeline that are alike ---------------------------------------------===//
#include "par/Emit/StageKinds.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::par;
namespace json = llvm::json;

std::string StageKind::print() const {
  std::string text;
  for (size_t begin = 0, end = 0; begin < stages.size(); begin = end) {
    for (end = begin + 1; end < stages.size() && stages[end] == stages[end - 1] + 1; ++end)
      ;
    text += (text.empty() ? "" : ", ") + std::to_string(stages[begin]);
    if (end > begin + 1)
      text += "-" + std::to_string(stages[end - 1]);
  }
  return text;
}

std::vector<StageKind> mlir::par::groupStages(int64_t count,
                                              llvm::function_ref<bool(int64_t, int64_t)> areAlike) {
  std::vector<StageKind> kinds;
  for (int64_t stage = 0; stage < count; ++stage) {
    auto kind =
        llvm::find_if(kinds, [&](const StageKind &kind) { return areAlike(kind.stages.front(), stage); });
    if (kind == kinds.end())
      kind = kinds.insert(kinds.end(), StageKind());
    kind->stages.push_back(stage);
  }
  return kinds;
}

std::vector<StageKind> mlir::par::findMemoryKinds(const json::Array &memory) {
  return groupStages(static_cast<int64_t>(memory.size()), [&](int64_t one, int64_t other) {
    return llvm::all_of(llvm::ArrayRef({"arena_bytes", "peak_bytes", "host_peak_bytes"}),
                        [&](const char *key) {
                          return *memory[size_t(one)].getAsObject()->get(key) ==
                                 *memory[size_t(other)].getAsObject()->get(key);
                        });
  });
}

#include "cuda/cudnn/StoredPlans.h"

#include "io/JsonNode.h"

namespace par::cuda {

std::string PlanBasis::describe() const {
  return "cuDNN " + cudnn + " for sm_" + std::to_string(chip) + " with " + std::to_string(processors) +
         " multiprocessors";
}

std::string print(const StoredPlans &stored) {
  nlohmann::json text = {{"cudnn", stored.basis.cudnn},
                         {"chip", stored.basis.chip},
                         {"processors", stored.basis.processors},
                         {"plans", stored.plans}};
  return text.dump() + "\n";
}

io::Status parse(const std::string &name, const std::string &text, StoredPlans &stored) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    io::JsonNode root(json, name);
    stored.basis = {root["cudnn"].text(), int(root["chip"].integer(0, 999)),
                    int(root["processors"].integer(1, 1 << 16))};
    for (const io::JsonNode &plan : root["plans"].items())
      stored.plans.push_back(plan.text());
  } catch (const io::JsonError &error) {
    return io::Status::error(error.what() + std::string("; compile the package again"));
  }
  return {};
}

} // namespace par::cuda

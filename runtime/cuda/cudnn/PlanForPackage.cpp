#include "cuda/ReadWork.h"
#include "cuda/cudnn/AttentionGraph.h"
#include "cuda/cudnn/Deviceless.h"
#include "cuda/cudnn/ExecutionPlan.h"
#include "par/CudnnPlans.h"

namespace par::cuda {

static io::Status readAttentions(const std::string &program, std::vector<AttentionWork> &list) {
  nlohmann::json json = nlohmann::json::parse(program, nullptr, /*allow_exceptions=*/false);
  try {
    list = parseDeviceWork(io::JsonNode(json, "")).attentions;
  } catch (const io::JsonError &error) {
    return io::Status::error(error.what());
  }
  return list.empty() ? io::Status::error("there is no attention that cuDNN computes as par does (--explain "
                                          "says why); leave it out")
                      : io::Status();
}

static io::Status planOne(const Cudnn &cudnn, const AttentionWork &work, const Descriptor &device,
                          std::string &text) {
  AttentionGraph graph(cudnn, work);
  PAR_TRY(graph.write());
  ExecutionPlan plan(cudnn);
  int64_t most = 0;
  PAR_TRY(graph.findRoom(most));
  PAR_TRY(plan.build(graph.get(), device, most));
  return plan.store(text);
}

io::Status planAttentionForPackage(const std::string &program, const std::string &chip, std::string &stored) {
  std::vector<AttentionWork> list;
  PAR_TRY(readAttentions(program, list));
  const Cudnn *cudnn = nullptr;
  PAR_TRY(loadCudnnWithoutDevice(cudnn));
  Descriptor device(*cudnn);
  PAR_TRY(describeChip(chip, device));
  StoredPlans all{basisOf(*cudnn, chip), std::vector<std::string>(list.size())};
  for (size_t i = 0; i < list.size(); ++i)
    if (io::Status status = planOne(*cudnn, list[i], device, all.plans[i]); !status.ok())
      return io::Status::error("cuDNN " + cudnn->version() + ": attention of " + list[i].describe() + ": " +
                               status.message() + "; leave it out: a run then takes what it can have");
  stored = print(all);
  return {};
}

} // namespace par::cuda

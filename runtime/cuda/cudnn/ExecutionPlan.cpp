#include "cuda/cudnn/ExecutionPlan.h"

#include <algorithm>

namespace par::cuda {

/// So many ways are tried. What is said of the first is said of all.
static constexpr int64_t mostWays = 16;

io::Status describeDevice(cudnnHandle_t handle, Descriptor &device) {
  PAR_TRY(device.create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR));
  PAR_TRY(device.set(CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, handle));
  return device.finalize();
}

io::Status describeDevice(const std::string &json, Descriptor &device) {
  PAR_TRY(device.create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR));
  PAR_TRY(device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, int64_t(json.size()) + 1,
                     json.c_str()));
  return device.finalize();
}

io::Status ExecutionPlan::propose(const OperationGraph &graph, const Descriptor &device) {
  heuristic = std::make_unique<Descriptor>(cudnn);
  PAR_TRY(heuristic->create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
  PAR_TRY(heuristic->set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A));
  PAR_TRY(heuristic->set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.get()));
  PAR_TRY(heuristic->set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device));
  PAR_TRY(heuristic->finalize());
  int64_t count = 0;
  PAR_TRY(heuristic->get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, count, nullptr));
  std::vector<cudnnBackendDescriptor_t> results;
  for (int64_t i = 0; i < std::min(count, mostWays); ++i) {
    ways.push_back(std::make_unique<Descriptor>(cudnn));
    PAR_TRY(ways.back()->create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    results.push_back(ways.back()->get());
  }
  PAR_TRY(heuristic->get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                         int64_t(results.size()), count, results.data()));
  ways.resize(size_t(std::min<int64_t>(count, int64_t(ways.size()))));
  return {};
}

io::Status ExecutionPlan::tryWay(const Descriptor &way) {
  plan = std::make_unique<Descriptor>(cudnn);
  PAR_TRY(plan->create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  PAR_TRY(plan->set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, way));
  PAR_TRY(plan->finalize());
  return readWorkspace();
}

io::Status ExecutionPlan::readWorkspace() {
  int64_t count = 0;
  return plan->get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, count, &bytes);
}

io::Status ExecutionPlan::checkWorkspace(int64_t most) const {
  return bytes <= most ? io::Status()
                       : io::Status::error("its workspace has " + std::to_string(bytes) +
                                           " bytes, expected at most " + std::to_string(most));
}

io::Status ExecutionPlan::build(const OperationGraph &graph, const Descriptor &device, int64_t most) {
  PAR_TRY(propose(graph, device));
  io::Status why;
  for (const OwnedDescriptor &way : ways) {
    io::Status status = tryWay(*way);
    if (status.ok())
      status = checkWorkspace(most);
    if (status.ok())
      return {};
    if (why.ok())
      why = status;
  }
  plan.reset();
  return why.ok() ? io::Status::error("nothing is proposed") : why;
}

/// cuDNN says how long the text is only by writing it.
io::Status ExecutionPlan::store(std::string &text) const {
  constexpr int64_t most = int64_t(1) << 24;
  int64_t count = 0;
  text.resize(size_t(most));
  PAR_TRY(
      plan->get(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, most, count, text.data()));
  text.resize(size_t(std::clamp<int64_t>(count, 0, most)));
  text.erase(std::min(text.find('\0'), text.size()));
  return {};
}

io::Status ExecutionPlan::restore(const std::string &text, const Descriptor &device, int64_t most) {
  plan = std::make_unique<Descriptor>(cudnn);
  PAR_TRY(plan->create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  PAR_TRY(plan->set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, int64_t(text.size()),
                    text.data()));
  PAR_TRY(plan->set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device));
  PAR_TRY(plan->finalize());
  PAR_TRY(readWorkspace());
  return checkWorkspace(most);
}

io::Status ExecutionPlan::execute(cudnnHandle_t handle, const std::vector<TensorAddress> &tensors,
                                  void *workspace) const {
  std::vector<int64_t> numbers;
  std::vector<void *> addresses;
  for (const TensorAddress &tensor : tensors) {
    numbers.push_back(tensor.tensor);
    addresses.push_back(tensor.address);
  }
  Descriptor pack(cudnn);
  PAR_TRY(pack.create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  PAR_TRY(pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, int64_t(addresses.size()),
                   addresses.data()));
  PAR_TRY(pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, int64_t(numbers.size()),
                   numbers.data()));
  PAR_TRY(pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace));
  PAR_TRY(pack.finalize());
  PAR_CUDNN(cudnn, cudnnBackendExecute, handle, plan->get(), pack.get());
  return {};
}

} // namespace par::cuda

// A stand-in of cuDNN's backend: it computes any graph of the operations that par's attention has, and says
// which rule a call breaks. Its operations are on the streams of the driver's stand-in.
#include "standin/OfDriver.h"
#include "standin/cudnn/Descriptors.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#define PAR_STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace par::cuda {

#define PAR_CUDNN_FUNCTION(name, ...) PAR_STANDIN_EXPORT cudnnStatus_t name(__VA_ARGS__);
#define PAR_CUDNN_OTHER(result, name, ...) PAR_STANDIN_EXPORT result name(__VA_ARGS__);
#include "cuda/cudnn/CudnnFunctions.def"

struct cudnnContext {
  CUstream stream = nullptr;
};

} // namespace par::cuda

namespace par::standin {

using namespace cuda;

static cudnnStatus_t refuse(const std::string &line, cudnnStatus_t result = CUDNN_STATUS_BAD_PARAM) {
  reportToDriver("cuDNN: " + line);
  return result;
}

/// PAR_STANDIN_CUDNN: 91000 for cuDNN 9.10; PAR_STANDIN_CUDNN_WORKSPACE: bytes that plans need beside.
static int64_t setting(const char *name, int64_t otherwise) {
  const char *value = std::getenv(name);
  return value && *value ? std::strtoll(value, nullptr, 10) : otherwise;
}

size_t libraryVersion() { return size_t(setting("PAR_STANDIN_CUDNN", 91900)); }

namespace {
/// An execution, kept until the stream is done with it.
struct Run {
  std::shared_ptr<Graph> graph;
  std::vector<std::pair<int64_t, size_t>> pieces; ///< of each tensor in memory, as the ranges have them
  std::map<int64_t, float> scalars;

  void compute(char *const *hosts) const {
    std::map<int64_t, std::vector<char *>> memory;
    for (auto [tensor, count] : pieces)
      for (size_t i = 0; i < count; ++i)
        memory[tensor].push_back(*hosts++);
    graph->compute(memory, scalars);
  }
};
using Ranges = std::vector<par_standin_range>;
} // namespace

static std::string problemOfRanges(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end(), [](auto &a, auto &b) { return a.address < b.address; });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].address < ranges[i - 1].address + ranges[i - 1].bytes &&
        (ranges[i].writes || ranges[i - 1].writes))
      return "what it writes lies over something else that it reads or writes";
  return "";
}

/// Addresses of all tensors that have one, as ranges; numbers by value are read now.
static std::string collect(const Descriptor &pack, Run &run, Ranges &ranges) {
  int64_t count = pack.counts.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  if (count != pack.counts.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS))
    return "as many tensors as addresses are expected";
  std::map<int64_t, void *> addresses;
  for (int64_t i = 0; i < count; ++i)
    addresses[pack.at<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, size_t(i))] =
        pack.at<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, size_t(i));
  for (const auto &[number, tensor] : run.graph->tensors()) {
    auto given = addresses.find(number);
    if (tensor.isVirtual != (given == addresses.end()))
      return "tensor " + std::to_string(number) +
             (tensor.isVirtual ? " is virtual, but has an address" : " has no address");
    if (tensor.isVirtual)
      continue;
    if (tensor.isByValue) {
      std::memcpy(&run.scalars[number], given->second, sizeof(float));
      continue;
    }
    auto address = reinterpret_cast<uint64_t>(given->second);
    if (address % uint64_t(tensor.alignment) != 0)
      return "tensor " + std::to_string(number) + " is at no multiple of " +
             std::to_string(tensor.alignment) + " bytes";
    auto pieces = tensor.pieces();
    for (auto [offset, bytes] : pieces)
      ranges.push_back({address + uint64_t(offset), uint64_t(bytes), run.graph->writes(number)});
    run.pieces.push_back({number, pieces.size()});
  }
  return "";
}

static int64_t workspaceOf(const Graph &graph) {
  bool isOlder = setting("PAR_STANDIN_CHIP", 90) < 90;
  return graph.workspace(isOlder) + setting("PAR_STANDIN_CUDNN_WORKSPACE", 0);
}

static cudnnStatus_t execute(CUstream stream, const Descriptor &plan, const Descriptor &pack) {
  auto run = std::make_unique<Run>();
  run->graph = plan.graph;
  Ranges ranges;
  if (std::string problem = collect(pack, *run, ranges); !problem.empty())
    return refuse(problem);
  auto workspace = pack.at<uint64_t>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  auto bytes = uint64_t(workspaceOf(*plan.graph));
  if (bytes && (!workspace || workspace % 256 != 0))
    return refuse("its workspace is at no multiple of 256 bytes");
  if (bytes)
    ranges.push_back({workspace, bytes, 1});
  if (std::string problem = problemOfRanges(ranges); !problem.empty())
    return refuse(problem);
  int result = ofDriver<decltype(par_standin_submit)>("par_standin_submit")(
      stream, "cudnnBackendExecute", ranges.data(), uint32_t(ranges.size()),
      [](void *data, char *const *hosts) { static_cast<Run *>(data)->compute(hosts); },
      [](void *data) { delete static_cast<Run *>(data); }, run.release());
  return result == CUDA_SUCCESS ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

} // namespace par::standin

namespace par::cuda {

using standin::refuse;

size_t cudnnGetVersion() { return standin::libraryVersion(); }

const char *cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS         ? "CUDNN_STATUS_SUCCESS"
         : status == CUDNN_STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED"
         : status == CUDNN_STATUS_BAD_PARAM     ? "CUDNN_STATUS_BAD_PARAM"
                                                : "CUDNN_STATUS_EXECUTION_FAILED";
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, CUstream stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(CudnnKind kind, cudnnBackendDescriptor_t *descriptor) {
  if (!standin::isKnown(kind))
    return refuse("descriptors of kind " + std::to_string(kind) + " are not known here");
  auto *made = new standin::Descriptor;
  made->kind = kind;
  *descriptor = made;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<standin::Descriptor *>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, CudnnName name, CudnnType type,
                                       int64_t count, const void *values) {
  std::string problem =
      standin::set(*static_cast<standin::Descriptor *>(descriptor), name, type, count, values);
  return problem.empty() ? CUDNN_STATUS_SUCCESS : refuse(problem);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  auto &one = *static_cast<standin::Descriptor *>(descriptor);
  if (std::string problem = standin::finalize(one); !problem.empty())
    return refuse(problem);
  return one.isSupported ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor, CudnnName name, CudnnType,
                                       int64_t most, int64_t *count, void *values) {
  auto &asked = *static_cast<standin::Descriptor *>(descriptor);
  if (!asked.isFinal)
    return refuse("attribute " + std::to_string(name) + " is asked for before the descriptor is finalized",
                  CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  *count = 1;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE && most == 1) {
    int64_t bytes = standin::workspaceOf(*asked.graph);
    std::memcpy(values, &bytes, sizeof(bytes));
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION && asked.graph) {
    std::string text = standin::printPlan(*asked.graph);
    *count = int64_t(text.size());
    if (most < *count)
      return refuse("a plan's text has " + std::to_string(*count) + " characters, and has no room");
    std::memcpy(values, text.data(), text.size());
    return CUDNN_STATUS_SUCCESS;
  }
  if (name != CUDNN_ATTR_ENGINEHEUR_RESULTS)
    return refuse("attribute " + std::to_string(name) + " is not told here");
  if (most > 0) {
    standin::Descriptor &way = **static_cast<standin::Descriptor **>(values);
    way.graph = asked.graph, way.isFinal = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  auto &asked = *static_cast<standin::Descriptor *>(plan), &given = *static_cast<standin::Descriptor *>(pack);
  if (!asked.isFinal || !given.isFinal || !asked.graph)
    return refuse("a plan or a pack of tensors that was not finalized", CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  return standin::execute(handle->stream, asked, given);
}

} // namespace par::cuda

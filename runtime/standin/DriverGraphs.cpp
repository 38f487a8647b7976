#include "standin/Exports.h"

#include <map>

namespace par::standin {

using namespace cuda;

/// The work of a stream that the end of its capture does not wait for.
static bool isJoined(CUstream stream, const std::vector<Op> &end) {
  return std::all_of(stream->captured.begin(), stream->captured.end(),
                     [&](const Op &op) { return isBefore(op, end); });
}

/// All of its streams do their work from now on. False where some of it is not waited for.
static bool leaveCapture(const std::shared_ptr<Capture> &capture) {
  std::vector<Op> end = capture->origin->captured;
  bool joined = true;
  for (CUstream stream : state().streams) {
    if (stream->capture != capture)
      continue;
    if (!capture->invalid && !isJoined(stream, end)) {
      report("a capture ends while " + *stream->captured.back()->name + " is not waited for");
      joined = false;
    }
    stream->capture.reset();
    stream->captured.clear();
  }
  state().captures.erase(capture);
  return joined;
}

/// A copy of every node, each on its branch, between two operations of the stream.
static CUresult launch(CUgraphExec exec, CUstream stream) {
  Op begin = std::make_shared<Operation>("a graph begins on " + stream->name);
  Op end = std::make_shared<Operation>("a graph ends on " + stream->name);
  if (exec->end && !exec->end->done) // one launch after the other
    begin->after.push_back(exec->end);
  if (exec->end)
    begin->clock.join(exec->end->clock);
  PAR_STANDIN_TRY(state().submit(stream, begin));
  std::map<const Operation *, Op> copies;
  for (size_t i = 0; i < exec->nodes.size(); ++i) {
    const Operation &node = *exec->nodes[i];
    Op copy = std::make_shared<Operation>("");
    copy->name = node.name, copy->run = node.run, copy->callHost = node.callHost, copy->begin = node.begin,
    copy->isKernel = node.isKernel;
    copy->after = {begin};
    for (const Op &before : node.after)
      copy->after.push_back(copies[before.get()]);
    copies[&node] = copy;
    state().executor.enqueue(*exec->lanes[i], copy);
    end->after.push_back(copy);
  }
  exec->end = end;
  return state().submit(stream, end);
}

} // namespace par::standin

namespace par::cuda {

using namespace standin;

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuStreamBeginCapture"))
    return CUDA_ERROR_INVALID_HANDLE;
  PAR_STANDIN_TRY(state().refuseOnStream(stream, "cuStreamBeginCapture"));
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream, stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  state().captures.insert(stream->capture);
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuStreamEndCapture"))
    return CUDA_ERROR_INVALID_HANDLE;
  std::shared_ptr<Capture> capture = stream->capture;
  if (!capture || capture->origin != stream) {
    report("cuStreamEndCapture on " + stream->name + ", whose capture did not begin there");
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id()) {
    report("cuStreamEndCapture by another thread than the one that began");
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  bool joined = leaveCapture(capture);
  *graph = nullptr;
  if (capture->invalid || !joined)
    return joined ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  *graph = new CUgraph_st{capture->nodes};
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, int *status) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuStreamIsCapturing"))
    return CUDA_ERROR_INVALID_HANDLE;
  *status = !stream->capture           ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  Lock lock(stateMutex());
  PAR_STANDIN_TRY(state().refuseInCapture("cuGraphInstantiate"));
  *exec = new CUgraphExec_st{graph->nodes, branchesOf(graph->nodes, state().executor), nullptr};
  return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec, CUstream stream) {
  Lock lock(stateMutex());
  return state().isStream(stream, "cuGraphUpload") ? state().executor.failure : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuGraphLaunch"))
    return CUDA_ERROR_INVALID_HANDLE;
  PAR_STANDIN_TRY(state().refuseOnStream(stream, "cuGraphLaunch"));
  return launch(exec, stream);
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  Lock lock(stateMutex());
  if (nodes)
    return CUDA_ERROR_INVALID_VALUE; // nobody asks for them
  *count = graph->nodes.size();
  return CUDA_SUCCESS;
}

/// Launches that are under way end all the same.
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  Lock lock(stateMutex());
  delete exec;
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  Lock lock(stateMutex());
  delete graph;
  return CUDA_SUCCESS;
}

} // namespace par::cuda

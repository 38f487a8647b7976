#include "device/FillWords.h"
#include "standin/Exports.h"

#include <cstring>

namespace par::standin {

using namespace cuda;

/// A copy takes along what is known of the bytes: who computes with them is told, not who moves them.
static void copyContents(const Block &from, uint64_t source, Block &to, uint64_t target, size_t bytes) {
  if (to.isPinned())
    return;
  Byte *contents = to.contents.data() + (target - to.begin);
  if (from.isPinned())
    std::fill_n(contents, bytes, Byte::written);
  else
    std::memmove(contents, from.contents.data() + (source - from.begin), bytes);
}

static CUresult copy(Operation &op, uint64_t target, uint64_t source, size_t bytes) {
  Block *from = state().memory.find(source, bytes), *to = state().memory.find(target, bytes);
  if (!from || !to) {
    report(*op.name + ": " + (from ? "to " : "from ") + state().memory.why(from ? target : source, bytes));
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  state().touch(op, source, bytes, false);
  state().touch(op, target, bytes, true);
  const Byte *contents = from->isPinned() ? nullptr : from->contents.data() + (source - from->begin);
  if (contents && std::count(contents, contents + bytes, Byte::untouched))
    report(*op.name + ": from bytes that nobody wrote, at " + Memory::name(*from, source));
  std::memmove(to->host + (target - to->begin), from->host + (source - from->begin), bytes);
  copyContents(*from, source, *to, target, bytes);
  return CUDA_SUCCESS;
}

static CUresult fill(Operation &op, uint64_t target, const void *word, size_t size, size_t count,
                     Byte state_) {
  Block *to = state().memory.find(target, size * count);
  if (!to) {
    report(*op.name + ": to " + state().memory.why(target, size * count));
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  state().touch(op, target, size * count, true);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(to->host + (target - to->begin) + i * size, word, size);
  if (!to->isPinned())
    std::fill_n(to->contents.begin() + long(target - to->begin), size * count, state_);
  return CUDA_SUCCESS;
}

static CUresult submitFill(CUstream stream, CUdeviceptr to, uint32_t word, size_t size, size_t count,
                           const char *function) {
  if (!state().isStream(stream, function))
    return CUDA_ERROR_INVALID_HANDLE;
  Op op =
      std::make_shared<Operation>("fill of " + std::to_string(size * count) + " bytes on " + stream->name);
  Byte contents = size == 4 && device::meansNothing(word) ? Byte::painted : Byte::written;
  op->run = [=](Operation &self) { return fill(self, to, &word, size, count, contents); };
  return state().submit(stream, op);
}

} // namespace par::standin

namespace par::cuda {

using namespace standin;

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  Lock lock(stateMutex());
  if (currentDevice() < 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  *total = state().settings.memory;
  *free = *total - state().memory.used(currentDevice());
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  Lock lock(stateMutex());
  PAR_STANDIN_TRY(state().executor.failure);
  PAR_STANDIN_TRY(state().refuseInCapture("cuMemAlloc"));
  if (currentDevice() < 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  Block *block = state().memory.allocate(currentDevice(), bytes, state().settings.memory);
  if (!block)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = block->begin;
  return CUDA_SUCCESS;
}

/// After all that is under way, as on a GPU.
static CUresult freeBlock(uint64_t begin, bool pinned, const char *function) {
  Lock lock(stateMutex());
  PAR_STANDIN_TRY(state().refuseInCapture(function));
  while (state().executor.step(lock))
    ;
  Block *block = state().memory.at(begin);
  if (!block || block->isPinned() != pinned) {
    report(std::string(function) + ": " +
           (block ? Memory::name(*block, begin) + " is not of this kind" : state().memory.why(begin, 1)));
    return CUDA_ERROR_INVALID_VALUE;
  }
  state().accesses.forget(block->begin, block->begin + block->bytes);
  state().memory.free(*block);
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address) { return freeBlock(address, false, "cuMemFree"); }

CUresult cuMemHostAlloc(void **host, size_t bytes, unsigned) {
  Lock lock(stateMutex());
  PAR_STANDIN_TRY(state().executor.failure);
  PAR_STANDIN_TRY(state().refuseInCapture("cuMemHostAlloc"));
  Block *block = bytes ? state().memory.allocatePinned(bytes) : nullptr;
  if (!block)
    return bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
  *host = block->host;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *host) {
  return freeBlock(reinterpret_cast<uint64_t>(host), true, "cuMemFreeHost");
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned) {
  Lock lock(stateMutex());
  uint64_t value = reinterpret_cast<uint64_t>(host);
  Block *block = state().memory.find(value, 1);
  if (!block || !block->isPinned()) {
    report("cuMemHostGetDevicePointer: " + (block ? Memory::name(*block, value) + " is no memory of the host"
                                                  : state().memory.why(value, 1)));
    return CUDA_ERROR_INVALID_VALUE;
  }
  *address = value;
  return CUDA_SUCCESS;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuMemcpyAsync"))
    return CUDA_ERROR_INVALID_HANDLE;
  std::string name = "copy of " + std::to_string(bytes) + " bytes on " + stream->name;
  for (uint64_t address : {from, to})
    if (!state().memory.find(address, bytes)) { // a GPU copies pageable memory, but waits for it
      report(name + ": " + (address == from ? "from " : "to ") + state().memory.why(address, bytes));
      return CUDA_ERROR_INVALID_VALUE;
    }
  Op op = std::make_shared<Operation>(name);
  op->run = [=](Operation &self) { return copy(self, to, from, bytes); };
  return state().submit(stream, op);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t count, CUstream stream) {
  Lock lock(stateMutex());
  return submitFill(stream, to, byte, 1, count, "cuMemsetD8Async");
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned word, size_t count, CUstream stream) {
  Lock lock(stateMutex());
  if (to % 4 != 0) {
    report("cuMemsetD32Async: " + hex(to) + " is no multiple of 4");
    return CUDA_ERROR_INVALID_VALUE;
  }
  return submitFill(stream, to, word, 4, count, "cuMemsetD32Async");
}

} // namespace par::cuda

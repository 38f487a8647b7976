#include "standin/Extents.h"
#include "standin/Kernels.h"
#include "standin/State.h"

#include <cstring>

namespace par::standin {

using namespace cuda;

uint64_t KernelLaunch::address(size_t parameter) const {
  uint64_t value = 0;
  std::memcpy(&value, parameters[parameter].data(), std::min(sizeof(value), parameters[parameter].size()));
  return value;
}

namespace {
/// A kernel while it runs.
class Run {
public:
  Run(State &state, Operation &op, const KernelLaunch &launch)
      : state(state), op(op), launch(launch), kernel(*launch.kernel), written(kernel.buffers.size()) {
    for (size_t i = 0; i < kernel.buffers.size(); ++i)
      if (kernel.buffers[i].role == Role::write)
        written[i].resize(kernel.buffers[i].bytes);
  }

  void go() {
    uint64_t draw = state.executor.draw();
    par_emulation how{int32_t(draw % 3), uint32_t(draw >> 32), &Run::accessed, &Run::reported, this, nullptr};
    std::vector<void *> pointers;
    for (const std::vector<char> &value : launch.parameters)
      pointers.push_back(const_cast<char *>(value.data()));
    kernel.emulated(pointers.data(), launch.grid, launch.block, launch.sharedBytes, &how);
    touchExtents();
    checkWritten();
  }

private:
  static void *accessed(void *run, uint64_t address, uint32_t bytes, uint32_t, int kind, const char *place) {
    return static_cast<Run *>(run)->access(address, bytes, kind, place);
  }
  static void reported(void *run, const char *text) {
    report(static_cast<Run *>(run)->kernel.name + ": " + text);
  }

  void say(const std::string &what, const char *place) const {
    report(kernel.name + ": " + what + (place && *place ? " (" + std::string(place) + ")" : ""));
  }

  /// Most accesses are in the block of the one before. Nothing is freed while a kernel runs.
  Block *find(uint64_t address, uint32_t bytes) {
    if (!last || !last->contains(address, bytes))
      last = state.memory.find(address, bytes);
    return last;
  }

  void *access(uint64_t address, uint32_t bytes, int kind, const char *place) {
    bool loads = kind != par_emulation_store, stores = kind != par_emulation_load;
    const char *verb = kind == par_emulation_load    ? "reads "
                       : kind == par_emulation_store ? "writes "
                                                     : "updates ";
    Block *block = find(address, bytes);
    if (!block) {
      say(verb + state.memory.why(address, bytes), place);
      return nullptr;
    }
    if (kernel.isDescribed && !isAllowed(address, bytes, loads, stores, verb, place))
      return nullptr;
    if (!kernel.isDescribed)
      (stores ? stored : loaded).add(address, address + bytes);
    if (!block->isPinned())
      checkContents(*block, address, bytes, loads, stores, place);
    return block->host + (address - block->begin);
  }

  /// What a kernel that is not described has touched, once it is known: its threads do it element by element.
  void touchExtents() {
    for (auto [begin, end] : loaded.merged())
      state.touch(op, begin, end - begin, false);
    for (auto [begin, end] : stored.merged())
      state.touch(op, begin, end - begin, true);
  }

  void checkContents(Block &block, uint64_t address, uint32_t bytes, bool loads, bool stores,
                     const char *place) {
    Byte *contents = block.contents.data() + (address - block.begin);
    for (uint32_t i = 0; loads && i < bytes; ++i)
      if (contents[i] != Byte::written) {
        say("reads bytes that nobody wrote", place);
        break;
      }
    if (stores)
      std::fill_n(contents, bytes, Byte::written);
  }

  /// Within one of the buffers, in its role. Behind them are coordinates, which are read.
  bool isAllowed(uint64_t address, uint32_t bytes, bool loads, bool stores, const char *verb,
                 const char *place) {
    size_t inside = kernel.buffers.size();
    for (size_t i = 0; i < kernel.buffers.size(); ++i) {
      const KernelBuffer &buffer = kernel.buffers[i];
      uint64_t offset = address - launch.address(i);
      if (address < launch.address(i) || offset > buffer.bytes || bytes > buffer.bytes - offset)
        continue;
      inside = i;
      if ((loads && buffer.role == Role::write) || (stores && buffer.role == Role::read))
        continue; // a buffer that lies there as well may allow it
      if (!written[i].empty())
        std::fill_n(written[i].begin() + long(offset), bytes, char(1));
      return true;
    }
    if (inside < kernel.buffers.size()) {
      say(verb + ("buffer " + std::to_string(inside)) + ", which it may only " +
              (kernel.buffers[inside].role == Role::read ? "read" : "write"),
          place);
      return false;
    }
    if (!stores && launch.parameters.size() > kernel.buffers.size() &&
        isInBlockOf(kernel.buffers.size(), address))
      return true;
    say(verb + std::to_string(bytes) + " bytes outside its buffers, at " +
            Memory::name(*state.memory.find(address, bytes), address),
        place);
    return false;
  }

  bool isInBlockOf(size_t parameter, uint64_t address) const {
    Block *block = state.memory.find(launch.address(parameter), 1);
    return block && block->contains(address, 1) && address >= launch.address(parameter);
  }

  void checkWritten() const {
    for (size_t i = 0; i < written.size(); ++i)
      if (long missing = std::count(written[i].begin(), written[i].end(), char(0)))
        report(kernel.name + ": leaves " + std::to_string(missing) + " of " +
               std::to_string(written[i].size()) + " bytes of buffer " + std::to_string(i) + " unwritten");
  }

  State &state;
  Operation &op;
  const KernelLaunch &launch;
  const Kernel &kernel;
  std::vector<std::vector<char>> written; ///< of buffers that are written whole
  Block *last = nullptr;                  ///< that was found
  Extents loaded, stored;                 ///< of a kernel without buffers
};
} // namespace

/// Buffers that are no memory are found before a thread runs.
static bool touchBuffers(State &state, Operation &op, const KernelLaunch &launch) {
  const Kernel &kernel = *launch.kernel;
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    const KernelBuffer &buffer = kernel.buffers[i];
    uint64_t address = launch.address(i);
    if (!state.memory.find(address, buffer.bytes)) {
      report(kernel.name + ": buffer " + std::to_string(i) + " is " +
             state.memory.why(address, buffer.bytes));
      return false;
    }
    if (buffer.role != Role::write)
      state.touch(op, address, buffer.bytes, false);
    if (buffer.role != Role::read)
      state.touch(op, address, buffer.bytes, true);
  }
  return true;
}

CUresult runKernel(State &state, Operation &op, const KernelLaunch &launch) {
  if (!touchBuffers(state, op, launch))
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  Run(state, op, launch).go();
  return CUDA_SUCCESS;
}

} // namespace par::standin

/// One rank's program: its arena, its groups, and the way from compiled code back to the runtime.
#ifndef PAR_CORE_RANKPROGRAM_H
#define PAR_CORE_RANKPROGRAM_H

#include "comm/Transport.h"
#include "core/Arenas.h"
#include "core/Delays.h"
#include "core/Devices.h"
#include "core/EmulatedKernels.h"
#include "core/Failure.h"
#include "core/Fault.h"
#include "core/Messages.h"
#include "core/Package.h"
#include "core/StepMarks.h"
#include "device/Accelerator.h"

#include <array>
#include <map>
#include <memory>

namespace par::rt {

class RankProgram;

/// What programs get: the C ABI's prefix and, behind it, the way back to the rank.
struct RankContext : device::Context {
  RankProgram *program = nullptr;
};

/// All keys of traffic that ranks may have: programs of stages send different things.
std::vector<std::string> trafficKeys(const Manifest &manifest);

class RankProgram {
public:
  /// The ranks of a process share all but transport and number.
  RankProgram(const Manifest &manifest, ProgressBoard &board, Failure &failure, const Fault &fault,
              comm::Transport &transport, int number);
  ~RankProgram();

  /// The arena with its constants, and room for these schedules. Throws Error.
  void prepare(const std::vector<std::string> &schedules, const Place &where);
  /// Every rank calls it once, after prepare. Throws Error.
  void createGroups();

  /// Decides in which ways products are computed, before anything is loaded. `seconds`: for measuring them.
  /// All ranks call it together; `note` is what rank 0 has to say of it. Throws Error.
  void tuneProducts(double seconds, std::string &note);

  /// Decides what computes attention; all ranks call it together. What they do is told in `note`. Throws
  /// Error.
  void chooseAttention(AttentionChoice wanted, std::string &note);

  /// Runs a schedule from its first action to its last; nothing where the program has no part in it (null).
  void run(Schedule schedule);

  Arenas arenas() const { return {device.get(), memory.begin(), hostMemory.begin(), &place.beats}; }
  comm::Group &world() const { return *all; }
  RankProgress &progress() { return place; }

  /// Highest byte that any schedule run so far has written (docs/Package.md, "Arena"); `end`: the arena of
  /// those run since the last call.
  int64_t peakBytes(int64_t end);
  /// The same of the arena in host memory; 0 without one.
  int64_t hostPeakBytes();
  /// First element of an output; NaN when there is none of that name.
  float output(const char *name, size_t microBatch = 0) const;

  /// Bytes sent since the last call of resetTraffic, by "kind:axis+axis".
  std::map<std::string, uint64_t> traffic() const;
  void resetTraffic() {
    for (Collective &one : collectives)
      one.sent = 0;
    messages->resetTraffic();
  }

  /// Who is told what the program does, and when, from now on; null: nobody.
  void setMarks(StepMarks *listener) { marks = listener; }
  /// Nothing is computed from now on.
  void emulate(std::unique_ptr<EmulatedKernels> instead) { emulated = std::move(instead); }
  device::Device &onDevice() const { return *device; }

  // Called by the program.
  void enterAction(int32_t action);
  void enterWork(int32_t work) { note({StepMark::Kind::work, work}); }
  void runCollective(int32_t collective, void *const *buffers);
  /// The same as an entry of a schedule: a sum over stages.
  void runSum(int32_t collective, void *const *buffers);
  void startCollective(int32_t collective, void *const *buffers);
  void waitForCollective(int32_t collective);
  /// Whether the time of the function that an action calls was slept instead.
  bool sleepsInstead(int32_t action) {
    if (emulated)
      emulated->run(action, place);
    return emulated != nullptr;
  }
  void startMessage(int32_t message, void *const *buffers);
  void waitForMessage(int32_t message);
  /// A table has an entry of a kind that there is not.
  void refuseEntry(int32_t kind);
  int64_t startTransfer(void *destination, const void *source, int64_t bytes);
  void waitForTransfer(int64_t ticket);
  void launchKernel(int32_t kernel, void *const *buffers);
  void multiply(int32_t product, void *const *buffers, const void *scale);
  void attend(int32_t attention, void *const *buffers);

private:
  std::vector<int64_t> gather(int64_t own);
  void agreeOnMost(std::vector<int64_t> &values);

  /// A collective of the manifest on this rank.
  struct Collective {
    comm::Group *group;
    std::string key; ///< of the traffic
    uint64_t sent;   ///< bytes since the last reset
    uint64_t event;  ///< of its last start
    std::vector<device::Address> buffers;
  };

  void launch(Schedule schedule);
  /// Where what is computed stands now, or a queue.
  void note(StepMark mark) {
    if (marks)
      finish(marks->mark(mark, device->compute()));
  }
  void note(StepMark mark, device::Queue &queue) {
    if (marks)
      finish(marks->mark(mark, queue));
  }
  void allocateArenas(int64_t bytes);
  void allocate(device::Memory &memory, device::Space space, int64_t bytes, const char *what);
  void writeConstants();
  std::unique_ptr<device::Queue> makeQueue(size_t most, Delays &late);
  Collective &checked(int32_t collective);
  size_t checkedMessage(int32_t message);
  void takeBuffers(int32_t collective, void *const *buffers);
  void beginCollective(int32_t collective);
  void endCollective(int32_t collective);
  void discardReceived(int32_t collective);
  void finish(const io::Status &status);
  /// What a program calls by number, on a device that has that.
  device::Accelerator &numbered(const char *what, int32_t number);
  device::Queue &queueOfCollectives() { return communication ? *communication : device->compute(); }
  int64_t writtenEnd(device::Address begin, int64_t known, int64_t end);

  const Manifest &manifest;
  const Program &program;
  ProgressBoard &board;
  Failure &failure;
  const Fault &fault;
  comm::Transport &transport;
  const int number;
  Delays delays;
  RankProgress &place;
  std::unique_ptr<device::Device> device;
  device::Accelerator *accelerator = nullptr; ///< what the device is besides; null on a CPU
  device::Memory memory, hostMemory;          ///< hostMemory: none where no variable is on the host
  int64_t arenaBytes = 0;
  std::vector<int32_t> coordinates;
  RankContext context;
  comm::Group *all = nullptr;
  std::vector<Collective> collectives; ///< as in the manifest
  std::unique_ptr<Messages> messages;
  std::vector<uint64_t *> sent;                             ///< counters of collectives and messages
  std::map<Schedule, std::vector<uint64_t>> sentBySchedule; ///< what they count in a step of it
  Delays communicationDelays, transferDelays;
  std::unique_ptr<device::Queue> communication; ///< null where no collective is started: they are computation
  std::unique_ptr<device::Queue> transfers;     ///< null where no transfer is started
  int64_t peak = 0, hostPeak = 0;
  std::array<char, 4096> scanned; ///< of an arena
  StepMarks *marks = nullptr;
  std::unique_ptr<EmulatedKernels> emulated; ///< null: kernels run
};

} // namespace par::rt
#endif

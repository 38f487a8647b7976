/// Ranks that are processes with a GPU each: NCCL moves what is on the GPUs, another transport all else.
#ifndef PAR_COMM_NCCL_NCCLTRANSPORT_H
#define PAR_COMM_NCCL_NCCLTRANSPORT_H

#include "comm/Transport.h"
#include "comm/nccl/FlightRecorder.h"
#include "comm/nccl/NcclCommunicator.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <thread>

namespace par::nccl {

class NcclGroup;

/// Agreement, saving and NCCL's id go over `control`, a transport of the host between the same ranks.
/// Collectives of a rank are on one queue, in one order; every way of messages has a communicator and a queue
/// of its own. All communicators are parts of one of all ranks, which does nothing else.
class NcclTransport : public comm::Transport {
public:
  struct Options {
    int rank = 0;
    double timeout = 300;        ///< seconds that others may take to come
    std::function<int()> action; ///< of the rank's program, now; -1: none
    /// Called once, on a thread of the transport, when NCCL says that a communicator has failed on its own.
    std::function<void(const std::string &why)> failed;
  };
  /// Opens NCCL. `control` outlives the transport.
  static io::Status make(comm::Transport &control, Options options, std::unique_ptr<NcclTransport> &made);
  ~NcclTransport() override;

  comm::Group *group(const std::vector<int> &ranks, int channel) override;
  io::Status connect(comm::Group &all, const std::vector<comm::Division> &divisions,
                     device::Device &device) override;
  void leave() override;
  bool isRecordable() const override { return true; }
  io::Status prepare(comm::Group &group, const comm::Collective &collective, device::Device &device) override;
  uint64_t enqueue(comm::Group &group, const comm::Collective &collective, const device::Address *buffers,
                   device::Device &device, device::Queue &queue, uint64_t *sent) override;
  comm::Route *route(int other, bool sends, size_t most, size_t buffers) override {
    return control.route(other, sends, most, buffers);
  }
  io::Status makeRoute(int other, bool sends, size_t most, size_t buffers, device::Device &device,
                       std::unique_ptr<comm::DeviceRoute> &made) override;
  io::Status openRoutes() override { return {}; } ///< NCCL's need no connections of the host
  io::Status barrier(comm::Group &group) override;
  uint64_t handedOver() const override { return control.handedOver() + moved; }
  void shareCores() override { control.shareCores(); }
  void abort() override;
  /// Ends the waits of this rank. From any thread.
  void stop();

  /// See FlightRecorder. From any thread.
  std::string flightRecord() const;

protected:
  io::Status execute(comm::Group &group, const comm::Collective &collective, void *const *buffers) override;

private:
  friend class NcclRoute;
  NcclTransport(comm::Transport &control, const Nccl &nccl, Options options);
  io::Status open(cuda::CudaDevice &device);
  io::Status makeWorld(comm::Group &all);
  io::Status divide(const comm::Division &division);
  void keep(const std::shared_ptr<NcclCommunicator> &communicator);
  io::Status find(const comm::GroupKey &key, std::shared_ptr<NcclCommunicator> &found) const;
  io::Status find(NcclGroup &group) const;
  io::Status enqueueOn(NcclGroup &group, const comm::Collective &collective, const device::Address *buffers,
                       cuda::CudaDevice &device, cuda::CudaQueue &queue);
  void watch();
  int action() const { return options.action ? options.action() : -1; }

  comm::Transport &control;
  const Nccl &nccl;
  const Options options;
  std::map<comm::GroupKey, std::unique_ptr<NcclGroup>> groups;
  std::shared_ptr<NcclCommunicator> world;                           ///< of all ranks; null: none has a group
  std::map<comm::GroupKey, std::shared_ptr<NcclCommunicator>> parts; ///< of `world`, that this rank is in
  std::unique_ptr<FlightRecorder> recorder;                          ///< null: no device yet
  int collectives = 0;                                               ///< the recorder's lane
  uint64_t moved = 0;                                                ///< bytes on rings and in messages
  int64_t mostRoom = 0;
  std::atomic<bool> ended{false};
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<NcclCommunicator>> communicators; ///< to be watched and aborted: `world` first
  bool leaving = false;
  std::thread watcher;
};

} // namespace par::nccl
#endif

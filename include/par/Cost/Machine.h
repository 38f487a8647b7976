//===- Machine.h - what the work of a rank program takes on some machine ----------------------*- C++ -*-===//
#ifndef PAR_COST_MACHINE_H
#define PAR_COST_MACHINE_H

#include "par/Cost/CollectiveTimes.h"
#include "par/Cost/DeviceTimes.h"
#include "par/Cost/OpCost.h"
#include "par/Schedule/Schedule.h"

namespace mlir::par {

/// What a rank computes by one op.
struct Computation {
  double flops = 0, bytes = 0; ///< each operand read or written once
  std::vector<ProductShape> products;
  /// Seconds of a device by a model of the library's op; without one it takes as long as a kernel.
  std::function<double(const DeviceModel &)> library;
  bool transposes = false; ///< elements change their places, and nothing is computed
  bool onHost = false;     ///< on buffers of the host's memory
};

/// What a rank exchanges with others by one op.
struct Exchange {
  std::optional<CollectiveKind> kind; ///< nothing: each rank sends to one other
  double bytes = 0;                   ///< of the whole tensor, or of the message
  double wireBytes = 0;               ///< that a rank sends, by a ring
  /// Numbers of the mesh's axes on which the ranks differ, rising.
  llvm::SmallVector<size_t> axes;
  /// Of the first of them, coordinates that take part; empty: all.
  llvm::SmallVector<int64_t> coordinates;
};

/// Seconds of single ops. What runs beside what is for ProgramTimes.
class Machine {
public:
  virtual ~Machine() = default;
  virtual double getSeconds(const Computation &work) const = 0;
  virtual double getSeconds(const Exchange &exchange) const = 0;
  /// A copy between the device and its host.
  virtual double getCopySeconds(double bytes) const = 0;
  /// Seconds of the host to issue an op, and share of its rate that computing keeps beside a collective, and
  /// a collective beside computing.
  virtual double getHostTime() const { return 0; }
  virtual ConcurrencyModel getConcurrency() const { return {}; }
  /// Whether nothing is computed while a collective runs that has been started.
  virtual bool exchangeBlocks(const Exchange &exchange) const { return false; }
  /// Whether a stage does nothing else while it sends to another.
  virtual bool transfersBlock() const { return false; }
  /// Seconds of an action beside those of its function's ops.
  virtual double getExtraSeconds(const Action &action) const { return 0; }
  /// Ranks for each core that they share (Cluster.h).
  virtual double getOversubscription() const { return 1; }
};

/// A device and a link by their rates alone: the slower of arithmetic and memory, and α + n/β per exchange.
class RooflineMachine : public Machine {
public:
  explicit RooflineMachine(const DeviceRates &rates) : rates(rates) {}
  double getSeconds(const Computation &work) const override;
  double getSeconds(const Exchange &exchange) const override;
  double getCopySeconds(double bytes) const override;

private:
  const DeviceRates rates;
};

/// A cluster on which a mesh is laid, rank after rank.
class ClusterMachine : public Machine {
public:
  ClusterMachine(const Cluster &cluster, MeshAttr mesh) : cluster(cluster), mesh(mesh) {}
  double getSeconds(const Computation &work) const override;
  double getSeconds(const Exchange &exchange) const override;
  double getCopySeconds(double bytes) const override;
  double getHostTime() const override { return cluster.device.hostTime; }
  ConcurrencyModel getConcurrency() const override { return cluster.concurrency; }
  double getOversubscription() const override { return cluster.oversubscription; }

private:
  double getMessageSeconds(const Exchange &exchange) const;
  GroupPlacement place(const Exchange &exchange) const;
  int64_t getStride(size_t axis) const;

  const Cluster &cluster;
  MeshAttr mesh;
};

} // namespace mlir::par

#endif // PAR_COST_MACHINE_H

/// In which ways (cuda/CudaWork.h) the products of a job are computed: the same on all ranks.
#ifndef PAR_CORE_PRODUCTWAYS_H
#define PAR_CORE_PRODUCTWAYS_H

#include "core/Manifest.h"
#include "core/WayCache.h"
#include "device/Accelerator.h"

#include <map>
#include <string>
#include <vector>

namespace par::rt {

/// The first rank whose program has a product says how it is computed. What it has no time for is computed in
/// the first way. Ways are numbers that mean the same on machines alike only: on others all take the first.
class ProductWays {
public:
  ProductWays(const Manifest &manifest, int rank);

  size_t size() const { return products.size(); }
  /// Of what numbers of ways depend on: GPU, driver and library. 0 where the rank computes no products.
  /// Throws Error.
  int64_t hashMachine(device::Accelerator &accelerator);
  /// Whether all ranks have told the same hash, but for those that told 0.
  bool areAlike(const std::vector<int64_t> &hashes);
  /// Of every product of the job, from 0 on: -1 where it is another rank that says it, or nothing is known.
  /// Behind these for each whether this rank's library leaves its epilogue to kernels, 0 or 1. Where `room`
  /// has time, what the user's cache does not have is measured and kept there.
  io::Status tell(device::Accelerator &accelerator, const device::TuningRoom &room,
                  std::vector<int64_t> &told);
  /// Whether something was to be measured: what lay in `room` is gone.
  bool hasMeasured() const { return measures; }
  /// The greatest that any rank has told is how they are computed.
  void take(device::Accelerator &accelerator, const std::vector<int64_t> &all);
  /// "products: 12 measured in 1.3 s, 3 known before; kept in FILE\n" and what else there is to be said.
  const std::string &note() const { return lines; }

private:
  bool isOwn(const std::string &product) const { return tellers.at(product) == rank; }
  size_t placeOf(const cuda::ProductWork &product) const;
  io::Status measure(device::Accelerator &accelerator, const device::TuningRoom &room,
                     std::vector<int> &ways);
  void keep(const WayCache &cache, size_t known, double seconds);
  void noteSeparate(const std::vector<int64_t> &all);

  const Program &program;
  const int rank;
  std::map<std::string, int> tellers; ///< of each product: who says how it is computed
  std::vector<std::string> products;  ///< of the job, in the order of their names
  Ways found;                         ///< what was measured here
  bool measures = false;
  std::string machine, lines;
};

} // namespace par::rt
#endif

/// In which of a library's ways the products of a job are computed: the same on all ranks.
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
/// the first way.
class ProductWays {
public:
  ProductWays(const Manifest &manifest, int rank);

  size_t size() const { return products.size(); }
  /// Of every product of the job, from 0 on; -1 where it is another rank that says it, or nothing is known.
  /// What the user's cache does not have is measured and kept there. Throws Error.
  std::vector<int64_t> tell(device::Accelerator &accelerator, const device::TuningRoom &room);
  /// Whether something was to be measured: what lay in `room` is gone.
  bool hasMeasured() const { return measures; }
  /// What all ranks have told, -1 for nothing, is how they are computed.
  void take(device::Accelerator &accelerator, const std::vector<int64_t> &all) const;
  /// "products: 12 measured in 1.3 s, 3 known before; kept in FILE\n", or nothing where none was.
  const std::string &note() const { return line; }

private:
  bool isOwn(const std::string &product) const { return tellers.at(product) == rank; }
  void keep(const WayCache &cache, size_t known, double seconds);

  const Program &program;
  const int rank;
  std::map<std::string, int> tellers; ///< of each product: who says how it is computed
  std::vector<std::string> products;  ///< of the job, in the order of their names
  Ways found;                         ///< what was measured here
  bool measures = false;
  std::string line;
};

} // namespace par::rt
#endif

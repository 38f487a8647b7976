/// Times at which streams come to places of a step: events with clocks, in graphs nodes of their own.
#ifndef PAR_CUDA_STAMPS_H
#define PAR_CUDA_STAMPS_H

#include "cuda/Driver.h"

#include <vector>

namespace par::cuda {

class Stamps {
public:
  explicit Stamps(const Driver &driver) : driver(driver) {}
  ~Stamps();

  /// A stream that is captured gets a node, so that every launch of the graph has times of its own.
  io::Status stamp(CUstream stream, size_t number);
  io::Status elapsed(size_t from, size_t to, double &seconds) const;

private:
  const Driver &driver;
  std::vector<CUevent> events; ///< by number
};

} // namespace par::cuda
#endif

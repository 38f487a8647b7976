/// What the environment says of the devices that are stood in for.
#ifndef PAR_STANDIN_SETTINGS_H
#define PAR_STANDIN_SETTINGS_H

#include <cstdint>
#include <string>
#include <vector>

namespace par::standin {

/// A fault that is asked for: the kernel launch or the operation of this number, from 1 on.
struct FaultOnDemand {
  enum Kind { none, launch, stall } kind = none;
  uint64_t number = 0;
};

struct Settings {
  int devices = 1;                  ///< PAR_STANDIN_DEVICES
  uint64_t seed = 1;                ///< PAR_STANDIN_SEED draws the order of execution
  uint64_t memory = 1ull << 30;     ///< PAR_STANDIN_MEMORY: bytes of each device
  int driver = 12080;               ///< PAR_STANDIN_DRIVER, as cuDriverGetVersion says it
  std::string name = "stand-in";    ///< PAR_STANDIN_NAME: of the GPUs
  int processors = 4;               ///< PAR_STANDIN_PROCESSORS: of each device
  int chip = 90;                    ///< PAR_STANDIN_CHIP: compute capability times ten
  FaultOnDemand fault;              ///< PAR_STANDIN_FAULT: launch@N fails, stall@N never ends
  std::vector<std::string> kernels; ///< PAR_STANDIN_KERNELS: folders of packages, with colons between them

  /// Reports what it cannot read.
  static Settings fromEnvironment();
};

} // namespace par::standin
#endif

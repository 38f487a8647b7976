//===- Devices.h - cluster files of the devices that rows name --------------------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_DEVICES_H
#define PAR_BENCHMARKS_PLANNER_DEVICES_H

#include "par/Cost/Cluster.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// Devices whose names begin alike, of a cluster file or a variant of what that file is about.
struct RowDevice {
  std::string begin;             ///< of the name
  std::vector<std::string> with; ///< one of which the name contains; none: any name
  std::string cluster, source;
  double memoryShare = 1, productsShare = 1; ///< of the file's rates

  bool fits(llvm::StringRef name) const;
  void apply(DeviceModel &device) const;
};

/// Errors: with the file, and the place in it.
llvm::Expected<std::vector<RowDevice>> readDevices(llvm::StringRef file);
/// The first that fits; null: there is none.
const RowDevice *findDevice(llvm::ArrayRef<RowDevice> devices, llvm::StringRef name);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_DEVICES_H

/// What the text of a PTX module says of itself and its kernels.
#ifndef PAR_STANDIN_PTX_H
#define PAR_STANDIN_PTX_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace par::standin {

struct PtxKernel {
  std::vector<uint32_t> parameterBytes;
  uint32_t mostThreads = 1024; ///< of a block: .maxntid or .reqntid
};

struct PtxModule {
  int version = 0;    ///< 80: PTX 8.0
  int chip = 0;       ///< 90: sm_90
  bool exact = false; ///< sm_90a: that chip alone
  std::map<std::string, PtxKernel> kernels;
};

/// Empty, or what is wrong with the text.
std::string readPtx(const std::string &text, PtxModule &module);

/// The highest PTX version that a driver reads: 80 for CUDA 12.0.
int ptxOf(int driver);

} // namespace par::standin
#endif

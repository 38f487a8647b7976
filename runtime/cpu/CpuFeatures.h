/// Instruction sets of this processor, by LLVM's names.
#ifndef PAR_CPU_CPUFEATURES_H
#define PAR_CPU_CPUFEATURES_H

#include <string>

namespace par::cpu {

enum class CpuSupport { yes, no, unknownName };

/// Whether processor and operating system have the feature ("avx2", "avx512f", "sse4.2").
CpuSupport cpuSupports(const std::string &feature);

} // namespace par::cpu
#endif

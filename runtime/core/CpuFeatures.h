/// Instruction sets of this processor, by LLVM's names.
#ifndef PAR_CORE_CPUFEATURES_H
#define PAR_CORE_CPUFEATURES_H

#include <string>

namespace par::rt {

enum class CpuSupport { yes, no, unknownName };

/// Whether processor and operating system have the feature ("avx2", "avx512f", "sse4.2").
CpuSupport cpuSupports(const std::string &feature);

} // namespace par::rt
#endif

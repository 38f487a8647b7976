#include "cpu/CpuFeatures.h"

#include <cpuid.h>
#include <cstdint>

namespace par::cpu {

namespace {
enum Register { eax, ebx, ecx, edx };
/// Register state that the operating system has to save for the feature (XCR0), beyond SSE's.
enum State { none, avx, avx512, amx };

struct Feature {
  const char *name;
  unsigned leaf, subleaf;
  Register where;
  unsigned bit;
  State state;
};
} // namespace

// LLVM's names (llvm/lib/TargetParser/Host.cpp) and Intel's CPUID bits (SDM volume 2A, CPUID).
static const Feature features[] = {
    {"cx8", 1, 0, edx, bit_CX8, none},
    {"cmov", 1, 0, edx, bit_CMOV, none},
    {"mmx", 1, 0, edx, bit_MMX, none},
    {"fxsr", 1, 0, edx, bit_FXSR, none},
    {"sse", 1, 0, edx, bit_SSE, none},
    {"sse2", 1, 0, edx, bit_SSE2, none},
    {"sse3", 1, 0, ecx, bit_SSE3, none},
    {"pclmul", 1, 0, ecx, bit_PCLMUL, none},
    {"ssse3", 1, 0, ecx, bit_SSSE3, none},
    {"fma", 1, 0, ecx, bit_FMA, avx},
    {"cx16", 1, 0, ecx, bit_CMPXCHG16B, none},
    {"sse4.1", 1, 0, ecx, bit_SSE4_1, none},
    {"sse4.2", 1, 0, ecx, bit_SSE4_2, none},
    {"crc32", 1, 0, ecx, bit_SSE4_2, none},
    {"movbe", 1, 0, ecx, bit_MOVBE, none},
    {"popcnt", 1, 0, ecx, bit_POPCNT, none},
    {"aes", 1, 0, ecx, bit_AES, none},
    {"xsave", 1, 0, ecx, bit_XSAVE, none},
    {"avx", 1, 0, ecx, bit_AVX, avx},
    {"f16c", 1, 0, ecx, bit_F16C, avx},
    {"rdrnd", 1, 0, ecx, bit_RDRND, none},
    {"fsgsbase", 7, 0, ebx, bit_FSGSBASE, none},
    {"bmi", 7, 0, ebx, bit_BMI, none},
    {"avx2", 7, 0, ebx, bit_AVX2, avx},
    {"bmi2", 7, 0, ebx, bit_BMI2, none},
    {"invpcid", 7, 0, ebx, bit_INVPCID, none},
    {"avx512f", 7, 0, ebx, bit_AVX512F, avx512},
    {"evex512", 7, 0, ebx, bit_AVX512F, avx512},
    {"avx512dq", 7, 0, ebx, bit_AVX512DQ, avx512},
    {"rdseed", 7, 0, ebx, bit_RDSEED, none},
    {"adx", 7, 0, ebx, bit_ADX, none},
    {"avx512ifma", 7, 0, ebx, bit_AVX512IFMA, avx512},
    {"clflushopt", 7, 0, ebx, bit_CLFLUSHOPT, none},
    {"clwb", 7, 0, ebx, bit_CLWB, none},
    {"avx512cd", 7, 0, ebx, bit_AVX512CD, avx512},
    {"sha", 7, 0, ebx, bit_SHA, none},
    {"avx512bw", 7, 0, ebx, bit_AVX512BW, avx512},
    {"avx512vl", 7, 0, ebx, bit_AVX512VL, avx512},
    {"avx512vbmi", 7, 0, ecx, bit_AVX512VBMI, avx512},
    {"pku", 7, 0, ecx, bit_OSPKE, none},
    {"waitpkg", 7, 0, ecx, bit_WAITPKG, none},
    {"avx512vbmi2", 7, 0, ecx, bit_AVX512VBMI2, avx512},
    {"shstk", 7, 0, ecx, bit_SHSTK, none},
    {"gfni", 7, 0, ecx, bit_GFNI, none},
    {"vaes", 7, 0, ecx, bit_VAES, avx},
    {"vpclmulqdq", 7, 0, ecx, bit_VPCLMULQDQ, avx},
    {"avx512vnni", 7, 0, ecx, bit_AVX512VNNI, avx512},
    {"avx512bitalg", 7, 0, ecx, bit_AVX512BITALG, avx512},
    {"avx512vpopcntdq", 7, 0, ecx, bit_AVX512VPOPCNTDQ, avx512},
    {"rdpid", 7, 0, ecx, bit_RDPID, none},
    {"cldemote", 7, 0, ecx, bit_CLDEMOTE, none},
    {"movdiri", 7, 0, ecx, bit_MOVDIRI, none},
    {"movdir64b", 7, 0, ecx, bit_MOVDIR64B, none},
    {"enqcmd", 7, 0, ecx, bit_ENQCMD, none},
    {"uintr", 7, 0, edx, bit_UINTR, none},
    {"avx512vp2intersect", 7, 0, edx, 1u << 8, avx512},
    {"serialize", 7, 0, edx, bit_SERIALIZE, none},
    {"tsxldtrk", 7, 0, edx, bit_TSXLDTRK, none},
    {"pconfig", 7, 0, edx, bit_PCONFIG, none},
    {"amx-bf16", 7, 0, edx, bit_AMXBF16, amx},
    {"avx512fp16", 7, 0, edx, bit_AVX512FP16, avx512},
    {"amx-tile", 7, 0, edx, bit_AMXTILE, amx},
    {"amx-int8", 7, 0, edx, bit_AMXINT8, amx},
    {"avxvnni", 7, 1, eax, bit_AVXVNNI, avx},
    {"avx512bf16", 7, 1, eax, bit_AVX512BF16, avx512},
    {"cmpccxadd", 7, 1, eax, bit_CMPCCXADD, none},
    {"amx-fp16", 7, 1, eax, bit_AMXFP16, amx},
    {"hreset", 7, 1, eax, bit_HRESET, none},
    {"avxifma", 7, 1, eax, bit_AVXIFMA, avx},
    {"avxvnniint8", 7, 1, edx, bit_AVXVNNIINT8, avx},
    {"avxneconvert", 7, 1, edx, bit_AVXNECONVERT, avx},
    {"prefetchi", 7, 1, edx, bit_PREFETCHI, none},
    {"xsaveopt", 13, 1, eax, bit_XSAVEOPT, none},
    {"xsavec", 13, 1, eax, bit_XSAVEC, none},
    {"xsaves", 13, 1, eax, bit_XSAVES, none},
    {"ptwrite", 20, 0, ebx, bit_PTWRITE, none},
    {"sahf", 0x80000001, 0, ecx, bit_LAHF_LM, none},
    {"lzcnt", 0x80000001, 0, ecx, bit_LZCNT, none},
    {"sse4a", 0x80000001, 0, ecx, bit_SSE4a, none},
    {"prfchw", 0x80000001, 0, ecx, bit_PRFCHW, none},
    {"xop", 0x80000001, 0, ecx, bit_XOP, avx},
    {"fma4", 0x80000001, 0, ecx, bit_FMA4, avx},
    {"tbm", 0x80000001, 0, ecx, bit_TBM, none},
    {"mwaitx", 0x80000001, 0, ecx, bit_MWAITX, none},
    {"64bit", 0x80000001, 0, edx, 1u << 29, none},
    {"clzero", 0x80000008, 0, ebx, bit_CLZERO, none},
    {"rdpru", 0x80000008, 0, ebx, bit_RDPRU, none},
    {"wbnoinvd", 0x80000008, 0, ebx, bit_WBNOINVD, none},
};

/// The bits of XCR0, 0 when the operating system does not use XSAVE.
static uint64_t enabledState() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
    return 0;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

static bool stateEnabled(State state) {
  static const uint64_t needed[] = {0, 0x6, 0xE6, 0x60006};
  return (enabledState() & needed[state]) == needed[state];
}

CpuSupport cpuSupports(const std::string &name) {
  for (const Feature &feature : features) {
    if (name != feature.name)
      continue;
    unsigned registers[4];
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, registers, registers + 1, registers + 2,
                           registers + 3))
      return CpuSupport::no;
    return (registers[feature.where] & feature.bit) && stateEnabled(feature.state) ? CpuSupport::yes
                                                                                   : CpuSupport::no;
  }
  return CpuSupport::unknownName;
}

} // namespace par::cpu

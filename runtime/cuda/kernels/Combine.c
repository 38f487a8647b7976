/* The kernels of Combine.h for GPUs: generate.sh compiles this to Combine.ptx. */
#define INLINE static inline __attribute__((always_inline))
#include "Combine.h"

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL(name, target, source, read, value)                                                            \
  __attribute__((nvptx_kernel)) void name(GLOBAL target *to, const GLOBAL source *from, long count) {        \
    long threads = (long)__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x();                    \
    long first = (long)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x();                       \
    for (long i = first + __nvvm_read_ptx_sreg_tid_x(); i < count; i += threads) {                           \
      read;                                                                                                  \
      source b = from[i];                                                                                    \
      to[i] = (value);                                                                                       \
    }                                                                                                        \
  }
#define COMBINE(name, target, source, value) KERNEL(name, target, source, target a = to[i], value)
#define CONVERT(name, target, source, value) KERNEL(name, target, source, , value)
COMBINE_ALL

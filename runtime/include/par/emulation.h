/// GPU kernels on a processor: the C ABI of `program<i>.emulated.so`, which par-emulate writes into a
/// package.
///
/// The library has, for each kernel of the manifest's list `kernels`, a function
///
///   void par_emulated_<name>(void **params, const uint32_t grid[3], const uint32_t block[3],
///                            uint32_t shared_bytes, const struct par_emulation *how);
///
/// with grid, block, shared memory and parameters as cuLaunchKernel takes them: params[i] points to the value
/// of parameter i. It runs all threads of all blocks, one at a time in the calling thread, and returns when
/// they have ended. It needs nothing but the C and C++ libraries. Addresses of device memory are below 2^63.
#ifndef PAR_EMULATION_H
#define PAR_EMULATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// In which order the blocks of a launch run, and the threads of a block between two barriers.
enum par_emulation_order { par_emulation_forward, par_emulation_reverse, par_emulation_random };

/// What a kernel does to memory. An atomic reads and writes.
enum par_emulation_access { par_emulation_load, par_emulation_store, par_emulation_atomic };

/// How a launch is emulated, and who knows its memory.
struct par_emulation {
  int32_t order; ///< a par_emulation_order
  uint32_t seed; ///< of par_emulation_random
  /// Every load, store and atomic of device memory: where its `bytes` at the device address `address` lie on
  /// the host, or null where they may not be accessed so; the callback has reported that then, and the
  /// access goes nowhere. `alignment` is what the instruction asks for, `kind` a par_emulation_access,
  /// `place` the kernel and its instruction. The emulator has checked the alignment.
  void *(*access)(void *state, uint64_t address, uint32_t bytes, uint32_t alignment, int kind,
                  const char *place);
  /// A fault that the emulator found itself: races, addresses that are not aligned, threads that wait for
  /// each other. The same fault of one instruction comes once in a launch.
  void (*report)(void *state, const char *text);
  void *state; ///< of all
  /// May be null. What an instruction of a warp fetches or writes back of device memory, once for each sector
  /// of 32 bytes that its lanes touch: the sector at `address`, a multiple of 32, and a bit of `used` for
  /// each byte of it that a lane accesses. `kind` is a par_emulation_access. Said when a block has ended.
  void (*sector)(void *state, uint64_t address, uint32_t used, int kind);
};

/// A function of the library.
typedef void (*par_emulated_kernel)(void **params, const uint32_t grid[3], const uint32_t block[3],
                                    uint32_t shared_bytes, const struct par_emulation *how);

#ifdef __cplusplus
}
#endif
#endif

/// AVX512-BF16's and AMX's instructions on processors that have none: they trap, and a handler of SIGILL does
/// what the manual says. So the code for such processors is executed by tests wherever AVX-512 is.
#ifndef PAR_TEST_UNITSEMULATOR_H
#define PAR_TEST_UNITSEMULATOR_H

#include "cpu/Units.h"

#include <vector>

namespace par::test {

/// The units that tests can run here, emulated where the processor has none; without AVX-512 only `none`.
/// The first call installs the handler, for the rest of the process.
std::vector<cpu::Bf16Units> testableBf16Units();

/// Products use these units as long as it lives.
class WithBf16Units {
public:
  explicit WithBf16Units(cpu::Bf16Units units) : before(cpu::usedBf16Units()) { cpu::useBf16Units(units); }
  ~WithBf16Units() { cpu::useBf16Units(before); }
  WithBf16Units(const WithBf16Units &) = delete;
  WithBf16Units &operator=(const WithBf16Units &) = delete;

private:
  const cpu::Bf16Units before;
};

} // namespace par::test
#endif

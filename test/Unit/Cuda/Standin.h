/// Tests on the stand-in of the driver: a fixture that begins anew and says what was found.
#ifndef PAR_TEST_CUDA_STANDIN_H
#define PAR_TEST_CUDA_STANDIN_H

#include "cuda/Driver.h"
#include "par/emulation.h"

#include <gtest/gtest.h>

#include <string>

namespace par::test {

/// Sets variables of the environment for as long as it lives.
class Environment {
public:
  Environment() = default;
  ~Environment();
  void set(const std::string &name, const std::string &value);

private:
  std::vector<std::pair<std::string, std::string>> before;
};

/// All that the stand-in found since it began anew.
std::string standinFindings();

/// The driver of the tests, with nothing in it, and a context of device 0 on this thread.
class Standin : public testing::Test {
protected:
  Standin();
  /// What a test plants, it takes; what is left makes it fail.
  ~Standin() override;

  /// Reads the environment anew: nothing of the driver may be in use.
  void restart();
  /// All findings since the last call.
  std::string findings();
  void give(const char *kernel, par_emulated_kernel computes);

  Environment environment;
  const cuda::Driver &cu;

private:
  size_t taken = 0; ///< characters of the findings
};

} // namespace par::test
#endif

/// Sets of variables as launchers leave them, and what par has to make of each.
#ifndef LAUNCH_VARIABLES_H
#define LAUNCH_VARIABLES_H

#include "core/Launch.h"

#include <map>
#include <random>
#include <string>
#include <vector>

namespace par::test {

using Variables = std::map<std::string, std::string>;

/// Takes all launchers' variables out of the environment, and sets these.
void setOnly(const Variables &variables);

struct LaunchDraw {
  std::string situation;
  Variables variables;
  // What must come of it: the parts of a refusal, or a place among others.
  std::vector<std::string> refused;
  int size = 0, rank = 0;
  std::string address;
  std::string unmet; ///< what has to be named where the place is known and cannot be reached
  rt::TransportKind transport = rt::TransportKind::local;

  std::string text() const;
};

class LaunchDraws {
public:
  explicit LaunchDraws(unsigned seed) : random(seed) {}
  LaunchDraw next();
  static size_t situations();

private:
  std::mt19937 random;
};

/// The variables without those that each "env -u ..." of a message names.
std::vector<Variables> withoutWhatIsNamed(const Variables &variables, const std::string &message);

} // namespace par::test
#endif

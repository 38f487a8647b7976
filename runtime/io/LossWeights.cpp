#include "par/io/LossWeights.h"

#include <cmath>
#include <cstdlib>

namespace par::io {

Status addLossWeight(const std::string &text, LossWeights &weights) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals),
              number = equals == std::string::npos ? "" : text.substr(equals + 1);
  char *end = nullptr;
  double weight = std::strtod(number.c_str(), &end);
  if (name.empty() || number.empty() || *end || !std::isfinite(weight))
    return Status::error("is '" + text + "', expected NAME=X, a loss and a finite number");
  if (!weights.emplace(name, weight).second)
    return Status::error("gives the loss " + name + " two weights; give one");
  return {};
}

Status checkLossWeights(const LossWeights &given, const LossWeights &known, const std::string &place) {
  std::string names;
  for (const auto &entry : known)
    names += (names.empty() ? "" : ", ") + entry.first;
  for (const auto &entry : given)
    if (!known.count(entry.first))
      return Status::error("--loss-weight " + entry.first + ": " + place + " has " +
                           (known.empty() ? "no loss with a weight; leave the flag out"
                                          : "no such loss with a weight, expected one of " + names));
  return {};
}

} // namespace par::io

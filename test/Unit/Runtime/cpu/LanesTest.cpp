// Functions of vectors at every processor level against the C library's in f64.
#include "cpu/Lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace par::cpu;

namespace {

template <typename L>
PAR_INLINE void tangents(std::vector<float> &values) {
  for (size_t i = 0; i < values.size(); i += size_t(L::width)) {
    typename L::Floats x;
    load(x, &values[i]);
    hyperbolicTangent<L>(x);
    store(x, &values[i]);
  }
}
PAR_LEVELS(tangentsAtLevel, tangents, std::vector<float> &)

/// Whole vectors of every level.
std::vector<float> numbers() {
  std::vector<float> values;
  for (float power = -30; power <= 30; power += 0.001f)
    for (float sign : {1.0f, -1.0f})
      values.push_back(sign * std::exp2(power));
  values.insert(values.end(), {0.0f, -0.0f, 8.4f, -8.4f, 8.400001f, 1e30f, INFINITY, -INFINITY});
  values.resize((values.size() + 15) / 16 * 16, 3.0f);
  return values;
}

class AtLevel : public testing::TestWithParam<Level> {
protected:
  void SetUp() override {
    if (GetParam() > supportedLevel())
      GTEST_SKIP() << "this processor has no " << nameOf(GetParam());
    useLevel(GetParam());
  }
  void TearDown() override { useLevel(supportedLevel()); }
};

TEST_P(AtLevel, TangentIsOffByLessThanAMillionth) {
  const std::vector<float> x = numbers();
  std::vector<float> y = x;
  tangentsAtLevel(y);
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = std::tanh(double(x[i])), error = std::abs(double(y[i]) - expected);
    ASSERT_LE(error, 1e-6 * std::abs(expected)) << x[i];
    if (expected != 0)
      most = std::max(most, error / std::abs(expected));
  }
  RecordProperty("largest_relative_error", std::to_string(most));
}

TEST_P(AtLevel, TangentOfNoNumberIsNone) {
  std::vector<float> y(16, NAN);
  tangentsAtLevel(y);
  for (float value : y)
    EXPECT_TRUE(std::isnan(value));
}

INSTANTIATE_TEST_SUITE_P(
    Lanes, AtLevel, testing::Values(Level::base, Level::v3, Level::v4), [](const auto &info) {
      return std::string(info.param == Level::v4 ? "v4" : info.param == Level::v3 ? "v3" : "v2");
    });

} // namespace

//===- OwnStepsTest.cpp - steps of par's own packages ---------------------------------------------------===//
#include "par/Cost/OwnSteps.h"
#include "par/Cost/ClusterFile.h"
#include "par/Cost/Machine.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::par;

namespace {

Cluster read(const std::string &name) {
  return llvm::cantFail(readCluster(PAR_TEST_DIR "/../examples/clusters/" + name + ".json"));
}

OwnFactor find(const std::string &name, FloatKind type = FloatKind::BF16) {
  return *findOwnFactor(read(name), type);
}

std::vector<double> listRatios(llvm::StringRef device, FloatKind type) {
  std::vector<double> ratios;
  for (const OwnStep &step : getOwnSteps())
    if (device == step.device && step.type == type)
      ratios.push_back(step.measured / step.modelled);
  return ratios;
}

// The factor is the geometric mean of a device's own steps, and its error that of each by the others.
TEST(OwnSteps, FactorIsTheMeanOfTheDevicesSteps) {
  std::vector<double> ratios = listRatios("H100", FloatKind::BF16);
  ASSERT_EQ(ratios.size(), 3u);
  OwnFactor own = find("dgx-h100");
  EXPECT_EQ(own.device, "H100");
  EXPECT_EQ(own.steps, 3);
  EXPECT_NEAR(own.factor, std::cbrt(ratios[0] * ratios[1] * ratios[2]), 1e-12);
  double error = 0;
  for (size_t i = 0; i < 3; ++i)
    error += std::abs(std::sqrt(ratios[(i + 1) % 3] * ratios[(i + 2) % 3]) / ratios[i] - 1) / 3;
  EXPECT_NEAR(own.error, error, 1e-12);
}

// Steps that the cluster file was made with decide the factor, and are not judged.
TEST(OwnSteps, OnlyBlindStepsAreJudged) {
  OwnFactor own = find("hgx-h200");
  EXPECT_EQ(own.steps, 10);
  EXPECT_EQ(own.judged, 7);
  std::vector<double> ratios = listRatios("H200", FloatKind::BF16);
  double error = 0;
  for (size_t i = 3; i < ratios.size(); ++i) {
    double others = std::pow(std::pow(own.factor, 10) / ratios[i], 1.0 / 9);
    error += std::abs(others / ratios[i] - 1) / 7;
  }
  EXPECT_NEAR(own.error, error, 1e-12);
}

// Of one step alone, the error is that of the model without a factor.
TEST(OwnSteps, AStepAloneIsNotJudgedByItself) {
  double ratio = listRatios("H200", FloatKind::F32).front();
  OwnFactor own = find("hgx-h200", FloatKind::F32);
  EXPECT_EQ(own.steps, 1);
  EXPECT_NEAR(own.factor, ratio, 1e-12);
  EXPECT_NEAR(own.error, std::abs(1 / ratio - 1), 1e-12);
}

// A device that was never measured takes the nearest by its rates, and one without steps of a type, too.
TEST(OwnSteps, OthersTakeTheNearest) {
  EXPECT_FALSE(find("dgx-h100").isNearest);
  EXPECT_FALSE(find("hgx-h200").isNearest);
  for (auto [name, nearest] :
       {std::pair("dgx-a100-80", "H100"), {"dgx-a100-40", "H100"}, {"dgx-b200", "H200"}}) {
    EXPECT_EQ(find(name).device, nearest) << name;
    EXPECT_TRUE(find(name).isNearest) << name;
  }
  EXPECT_EQ(find("dgx-h100", FloatKind::F32).device, "H200");
  EXPECT_TRUE(find("dgx-h100", FloatKind::F32).isNearest);
}

// par measures the rates of processors itself.
TEST(OwnSteps, ProcessorsHaveNoFactor) {
  Cluster cluster = read("cpu");
  EXPECT_FALSE(findOwnFactor(cluster, FloatKind::F32));
  takeOwnFactor(cluster, FloatKind::F32);
  EXPECT_EQ(cluster.ownFactor, 1);
}

// What a GPU computes takes longer by the factor; its host and its copies do not.
TEST(OwnSteps, TheFactorIsOfWhatTheDeviceComputes) {
  Cluster before = read("dgx-h100"), after = before;
  takeOwnFactor(after, FloatKind::BF16);
  takeOwnFactor(after, FloatKind::BF16); // once more changes nothing
  ClusterMachine plain(before, {}), factored(after, {});
  Computation kernel;
  kernel.bytes = 1e9;
  EXPECT_NEAR(factored.getSeconds(kernel) / plain.getSeconds(kernel), find("dgx-h100").factor, 1e-12);
  kernel.onHost = true;
  EXPECT_EQ(factored.getSeconds(kernel), plain.getSeconds(kernel));
  EXPECT_EQ(factored.getCopySeconds(1e9), plain.getCopySeconds(1e9));
}

} // namespace

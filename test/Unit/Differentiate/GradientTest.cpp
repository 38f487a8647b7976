//===- GradientTest.cpp - gradients and updates of differentiated graphs, evaluated ---------------------===//
#include "Graphs.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "par/Interpreter/TrainInterpreter.h"
#include "par/Register/Register.h"
#include "par/Transforms/Differentiate/Passes.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::par;

namespace {

using Values = std::map<std::string, Tensor>;

class GradientTest : public ::testing::TestWithParam<const char *> {
protected:
  GradientTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  OwningOpRef<ModuleOp> parse() { return parseSourceString<ModuleOp>(GetParam(), &context); }

  OwningOpRef<ModuleOp> differentiate(bool split, StringRef optimizer, StringRef recompute = "none") {
    OwningOpRef<ModuleOp> module = parse();
    PassManager manager(&context);
    DifferentiatePipelineOptions options;
    options.split = split;
    options.optimizer = optimizer.str();
    options.recompute = recompute.str();
    buildDifferentiatePipeline(manager, options);
    EXPECT_TRUE(succeeded(manager.run(*module)));
    return module;
  }

  /// The same values on every call.
  Values makeParameters(ModuleOp module) {
    std::mt19937 generator(7);
    std::uniform_real_distribution<double> uniform(-0.8, 0.8);
    Values values;
    for (VariableOp variable : module.getOps<VariableOp>()) {
      if (variable.getRole() != Role::Parameter)
        continue;
      Tensor tensor(variable.getTensorType());
      for (double &value : tensor.values)
        value = uniform(generator);
      values[variable.getSymName().str()] = tensor;
    }
    return values;
  }

  TrainStep makeStep(int64_t microBatches) {
    std::mt19937 generator(3);
    auto make = [&] {
      Tensor tensor(RankedTensorType::get({2, 3}, IntegerType::get(&context, 32)));
      for (double &value : tensor.values)
        value = static_cast<double>(generator() % 7);
      return tensor;
    };
    TrainStep step;
    step.clip = 0.0;
    for (int64_t number = 0; number < microBatches; ++number) {
      step.tokens.push_back(make());
      step.targets.push_back(make());
    }
    return step;
  }

  std::unique_ptr<TrainInterpreter> start(ModuleOp module, const Values &parameters,
                                          StringRef schedule = "") {
    std::unique_ptr<TrainInterpreter> interpreter = TrainInterpreter::create(module, schedule);
    EXPECT_TRUE(interpreter != nullptr);
    for (const auto &[name, value] : parameters)
      interpreter->setVariable(name, value);
    return interpreter;
  }

  double run(TrainInterpreter &interpreter, const TrainStep &step) {
    FailureOr<TrainResult> result = interpreter.step(step);
    EXPECT_TRUE(succeeded(result));
    return succeeded(result) ? result->loss : NAN;
  }

  MLIRContext context;
};

double getDifference(const Values &a, const Values &b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0.0;
  for (const auto &[name, tensor] : a)
    for (size_t index = 0; index < tensor.values.size(); ++index)
      difference = std::max(difference, std::abs(tensor.values[index] - b.at(name).values[index]));
  return difference;
}

/// Central differences of the graph's own loss over two micro-batches: every gradient, accumulation included.
TEST_P(GradientTest, gradientsEqualFiniteDifferences) {
  OwningOpRef<ModuleOp> graph = parse();
  OwningOpRef<ModuleOp> module = differentiate(/*split=*/false, "adamw");
  Values parameters = makeParameters(*graph);
  TrainStep step = makeStep(2);
  step.lr = 0.0;
  auto trained = start(*module, parameters);
  double loss = run(*trained, step);
  auto forward = start(*graph, parameters);
  EXPECT_NEAR(loss, run(*forward, step), 1e-12);

  Values gradients = trained->getVariables(Role::Gradient);
  const double h = 1e-5;
  double largest = 0.0;
  for (const auto &[name, value] : parameters)
    for (size_t index = 0; index < value.values.size(); ++index) {
      Tensor moved = value;
      moved.values[index] = value.values[index] + h;
      forward->setVariable(name, moved);
      double above = run(*forward, step);
      moved.values[index] = value.values[index] - h;
      forward->setVariable(name, moved);
      double below = run(*forward, step);
      forward->setVariable(name, value);
      double gradient = gradients.at(name + ".gradient").values[index];
      largest = std::max(largest, std::abs(gradient));
      ASSERT_NEAR(gradient, (above - below) / (2 * h), 1e-6) << name << " element " << index;
    }
  EXPECT_GT(largest, 1e-2);
}

/// The second step begins anew (beta = 0): at the same parameters it has the same loss and gradients.
TEST_P(GradientTest, stepsDoNotAddUp) {
  OwningOpRef<ModuleOp> module = differentiate(/*split=*/false, "sgd");
  TrainStep step = makeStep(3);
  step.lr = 0.0;
  auto interpreter = start(*module, makeParameters(*module));
  double first = run(*interpreter, step);
  Values gradients = interpreter->getVariables(Role::Gradient);
  EXPECT_EQ(first, run(*interpreter, step));
  EXPECT_EQ(getDifference(gradients, interpreter->getVariables(Role::Gradient)), 0.0);
}

/// backward_weight after backward_input computes what backward computes, over steps with updates.
TEST_P(GradientTest, splitEqualsFused) {
  OwningOpRef<ModuleOp> module = differentiate(/*split=*/true, "adamw");
  Values parameters = makeParameters(*module);
  auto fused = start(*module, parameters);
  auto split = start(*module, parameters, "zb-h1");
  TrainStep step = makeStep(2);
  step.lr = 0.05;
  for (step.number = 1; step.number <= 3; ++step.number)
    EXPECT_NEAR(run(*fused, step), run(*split, step), 1e-12);
  EXPECT_LT(getDifference(fused->getVariables(Role::Gradient), split->getVariables(Role::Gradient)), 1e-12);
  EXPECT_LT(getDifference(fused->getVariables(Role::Parameter), split->getVariables(Role::Parameter)), 1e-12);
  EXPECT_GT(getDifference(fused->getVariables(Role::Parameter), parameters), 1e-2);
}

/// In whatever order micro-batches go forward and back: gpipe begins its gradients with the last one.
TEST_P(GradientTest, everyScheduleGivesTheSame) {
  OwningOpRef<ModuleOp> module = differentiate(/*split=*/true, "adamw");
  Values parameters = makeParameters(*module);
  auto expected = start(*module, parameters, "1f1b");
  TrainStep step = makeStep(3);
  double loss = run(*expected, step);
  for (StringRef schedule : {"gpipe", "layer-wise", "zb-h2"}) {
    auto actual = start(*module, parameters, schedule);
    EXPECT_NEAR(run(*actual, step), loss, 1e-12) << schedule.str();
    EXPECT_LT(getDifference(expected->getVariables(Role::Gradient), actual->getVariables(Role::Gradient)),
              1e-12)
        << schedule.str();
  }
  EXPECT_EQ(TrainInterpreter::create(*module, "zb-v"), nullptr); // two chunks
}

/// What runs again in a backward pass, whole or in two parts, is what was computed in the forward pass.
TEST_P(GradientTest, recomputedEqualsSaved) {
  OwningOpRef<ModuleOp> saving = differentiate(/*split=*/false, "adamw");
  Values parameters = makeParameters(*saving);
  auto expected = start(*saving, parameters);
  TrainStep step = makeStep(2);
  run(*expected, step);
  for (StringRef policy : {"selective", "full", "auto"}) {
    OwningOpRef<ModuleOp> module = differentiate(/*split=*/true, "adamw", policy);
    for (StringRef schedule : {"1f1b", "zb-h1"}) {
      auto actual = start(*module, parameters, schedule);
      run(*actual, step);
      EXPECT_LT(getDifference(expected->getVariables(Role::Gradient), actual->getVariables(Role::Gradient)),
                1e-12)
          << policy.str();
    }
  }
}

/// SGD with clipping and decay: p ← p − lr·(min(1, clip / (norm + 1e-6))·g + decay·p), decay where the file
/// has two dimensions.
TEST_P(GradientTest, sgdUpdatesByTheClippedGradient) {
  OwningOpRef<ModuleOp> module = differentiate(/*split=*/false, "sgd");
  Values parameters = makeParameters(*module);
  auto interpreter = start(*module, parameters);
  TrainStep step = makeStep(2);
  step.lr = 0.1;
  step.weightDecay = 0.3;
  step.clip = 0.02;
  FailureOr<TrainResult> result = interpreter->step(step);
  ASSERT_TRUE(succeeded(result));
  Values gradients = interpreter->getVariables(Role::Gradient);
  double squares = 0.0;
  for (const auto &[name, gradient] : gradients)
    for (double value : gradient.values)
      squares += value * value;
  ASSERT_TRUE(result->gradNorm.has_value());
  EXPECT_NEAR(*result->gradNorm, std::sqrt(squares), 1e-12);
  ASSERT_GT(*result->gradNorm, step.clip);
  double factor = std::min(1.0, step.clip / (std::sqrt(squares) + 1e-6));
  for (const auto &[name, old] : parameters) {
    std::optional<Tensor> updated = interpreter->getVariable(name);
    ASSERT_TRUE(updated.has_value());
    double decay = old.rank() >= 2 ? step.weightDecay : 0.0;
    for (size_t index = 0; index < old.values.size(); ++index) {
      double gradient = gradients.at(name + ".gradient").values[index];
      // The constant 1e-6 is f32 in the graph.
      EXPECT_NEAR(updated->values[index],
                  old.values[index] - step.lr * (factor * gradient + decay * old.values[index]), 1e-9);
    }
  }
}

std::string getName(const ::testing::TestParamInfo<const char *> &info) {
  const char *names[] = {"flatPair", "tiedLayers", "sharedValues"};
  return names[info.index];
}

INSTANTIATE_TEST_SUITE_P(Graphs, GradientTest, ::testing::Values(kFlatPair, kTiedLayers, kSharedValues),
                         getName);

} // namespace

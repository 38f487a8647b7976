//===- GoldenTest.cpp - imported graphs against PyTorch and Transformers --------------------------------===//
// Logits and loss of the cases in test/Golden, by the interpreter, with the weights that their files hold.
#include "par/Import/Import.h"
#include "par/Interpreter/TrainInterpreter.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace mlir::par;

namespace {

std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// The f32 tensors of a safetensors file, by name: 8 bytes of header length, a JSON header, the data.
std::map<std::string, std::vector<double>> readTensors(const std::string &path) {
  std::string bytes = readFile(path);
  uint64_t length = llvm::support::endian::read64le(bytes.data());
  llvm::json::Value header = llvm::cantFail(llvm::json::parse(llvm::StringRef(bytes).substr(8, length)));
  std::map<std::string, std::vector<double>> tensors;
  for (const auto &[name, entry] : *header.getAsObject()) {
    if (name == "__metadata__")
      continue;
    const llvm::json::Array &range = *entry.getAsObject()->getArray("data_offsets");
    for (int64_t at = *range[0].getAsInteger(); at < *range[1].getAsInteger(); at += 4) {
      float value;
      std::memcpy(&value, bytes.data() + 8 + length + at, 4);
      tensors[name.str()].push_back(value);
    }
  }
  return tensors;
}

/// The logical tensor of which `file` is the transpose by the variable's permutation, in row-major order.
Tensor toLogical(VariableOp variable, const std::vector<double> &file) {
  Tensor logical(variable.getTensorType());
  ArrayRef<int64_t> permutation = variable.getFile()->getPieces().front().getPermutation();
  SmallVector<int64_t> transposed, strides = rowMajorStrides(logical.shape());
  for (int64_t dim : permutation)
    transposed.push_back(logical.shape()[dim]);
  size_t next = 0;
  forEachIndex(transposed, [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (auto [position, dim] : llvm::enumerate(permutation))
      at += index[position] * strides[dim];
    logical.values[at] = file[next++];
  });
  return logical;
}

/// A golden case, imported and filled with its weights.
struct Case {
  explicit Case(const std::string &name) : folder(PAR_TEST_DIR "/Golden/" + name) {
    llvm::json::Value golden = llvm::cantFail(llvm::json::parse(readFile(folder + "/golden.json")));
    seq = *golden.getAsObject()->getInteger("seq");
    batch = *golden.getAsObject()->getInteger("batch");
    loss = *(*golden.getAsObject()->getObject("sgd")->getArray("steps"))[0].getAsObject()->getNumber("loss");
    DialectRegistry registry;
    registerElementwiseModels(registry);
    context.appendDialectRegistry(registry);
    ImportOptions options;
    options.model = folder;
    options.seq = seq;
    options.batch = batch;
    module = importModel(context, options);
    if (module)
      interpreter = TrainInterpreter::create(*module);
    if (interpreter)
      loadWeights();
  }

  void loadWeights() {
    auto weights = readTensors(folder + "/model.safetensors");
    for (VariableOp variable : module->getOps<VariableOp>()) {
      std::string name = variable.getFile()->getName().str();
      ASSERT_TRUE(weights.count(name)) << name;
      ASSERT_EQ(int64_t(weights[name].size()), variable.getTensorType().getNumElements()) << name;
      EXPECT_TRUE(interpreter->setVariable(variable.getSymName(), toLogical(variable, weights[name])));
      weights.erase(name);
    }
    EXPECT_TRUE(weights.empty()) << "no variable for " << weights.begin()->first;
  }

  /// Inputs (shift 0) or targets (shift 1) of the first step: windows of seq + 1 tokens each.
  Tensor tokens(int64_t shift) {
    std::string bytes = readFile(folder + "/tokens.bin");
    Tensor result(RankedTensorType::get({batch, seq}, IntegerType::get(&context, 32)));
    for (int64_t row = 0; row < batch; ++row)
      for (int64_t column = 0; column < seq; ++column)
        result.values[row * seq + column] =
            llvm::support::endian::read16le(bytes.data() + 2 * (row * (seq + 1) + column + shift));
    return result;
  }

  std::string folder;
  int64_t seq, batch;
  double loss;
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<TrainInterpreter> interpreter;
};

class Golden : public testing::TestWithParam<const char *> {};

TEST_P(Golden, logitsEqualTransformers) {
  Case golden(GetParam());
  ASSERT_TRUE(golden.interpreter);
  TrainStep step;
  step.tokens = {golden.tokens(0)};
  FailureOr<Tensor> logits = golden.interpreter->logits(step);
  ASSERT_TRUE(succeeded(logits));
  std::vector<double> expected = readTensors(golden.folder + "/logits.safetensors")["logits"];
  ASSERT_EQ(logits->values.size(), expected.size());
  double worst = 0.0, largest = 0.0;
  for (auto [actual, wanted] : llvm::zip(logits->values, expected)) {
    worst = std::max(worst, std::fabs(actual - wanted));
    largest = std::max(largest, std::fabs(wanted));
  }
  // Transformers rounds norms and rotary angles to f32.
  EXPECT_LT(worst / largest, 1e-6) << "largest logit " << largest;
}

TEST_P(Golden, lossEqualsTransformers) {
  Case golden(GetParam());
  ASSERT_TRUE(golden.interpreter);
  TrainStep step;
  step.tokens = {golden.tokens(0)};
  step.targets = {golden.tokens(1)};
  FailureOr<TrainResult> result = golden.interpreter->step(step);
  ASSERT_TRUE(succeeded(result));
  EXPECT_NEAR(result->loss, golden.loss, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::Values("gpt2", "llama", "mistral", "olmo", "qwen2"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param);
                         });

} // namespace

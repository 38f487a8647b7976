//===- GenericKernelTest.cpp - every kernel of training steps, emulated, is what the interpreter says ===//
#include "EmulatedKernels.h"
#include "par/Compile/Driver.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Import/Import.h"
#include "par/Interpreter/Interpreter.h"
#include "par/Interpreter/Tensor.h"
#include "par/Register/Register.h"
#include "par/Target/Target.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace mlir::par;
using ::par::emulation::BufferRole;
using ::par::emulation::Buffers;

namespace {

/// Elements of a tensor as they lie in memory, from their values and back.
class Memory {
public:
  explicit Memory(RankedTensorType type) : type(type), bytes(rank::getBytes(type), char(0xFF)) {}

  void set(const Tensor &tensor) {
    for (size_t number = 0; number < tensor.values.size(); ++number) {
      double value = tensor.values[number];
      visit(
          number, [&](auto &element) { element = static_cast<std::decay_t<decltype(element)>>(value); },
          [&](uint16_t &bits) { bits = toBf16(value); });
    }
  }
  double get(size_t number) {
    double value = 0;
    visit(
        number, [&](auto &element) { value = static_cast<double>(element); },
        [&](uint16_t &bits) { value = fromBf16(bits); });
    return value;
  }

  RankedTensorType type;
  std::vector<char> bytes;

private:
  template <typename Element, typename Narrow>
  void visit(size_t number, Element element, Narrow narrow) {
    Type of = type.getElementType();
    char *place = bytes.data() + number * bytes.size() / type.getNumElements();
    if (of.isBF16())
      narrow(*reinterpret_cast<uint16_t *>(place));
    else if (of.isF32())
      element(*reinterpret_cast<float *>(place));
    else if (of.isInteger(64))
      element(*reinterpret_cast<int64_t *>(place));
    else if (of.isInteger(32))
      element(*reinterpret_cast<int32_t *>(place));
    else
      element(*reinterpret_cast<uint8_t *>(place));
  }
  static double fromBf16(uint16_t bits) {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  static uint16_t toBf16(double value) { // has been rounded
    float narrow = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    return static_cast<uint16_t>(bits >> 16);
  }
};

/// A lowered training step, its distinct kernels and their emulation.
class Step {
public:
  Step(const std::string &model, const Plan &plan, std::vector<std::string> overrides)
      : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    ImportOptions options;
    options.model = std::string(PAR_TEST_DIR) + "/Golden/" + model;
    options.overrides = std::move(overrides);
    options.seq = plan.seq;
    options.batch = plan.getGraphBatch();
    options.dtype = getName(plan.dtype).str();
    module = importModel(context, options);
    Driver driver(plan);
    EXPECT_TRUE(module && succeeded(driver.run(*module, CompilePhase::Annotate, CompilePhase::Lower)));
    OwningOpRef<ModuleOp> program = module->clone();
    EXPECT_TRUE(succeeded(driver.run(*program, CompilePhase::Emit)));
    auto device = program->lookupSymbol<ModuleOp>(kDeviceModule);
    launches = device->getAttrOfType<ArrayAttr>("rank.kernels");
    EXPECT_EQ(
        llvm::toString(findTarget(plan.target)->writeProgram(*program, plan, "", folder.at("program0.so"))),
        "");
    auto bitcode = llvm::MemoryBuffer::getFile(folder.at("program0.bc"));
    kernels = std::make_unique<EmulatedKernels>((*bitcode)->getMemBufferRef());
    EXPECT_EQ(kernels->error, "");
    collect();
  }

  /// Of the region that the kernel `name` computes.
  rank::KernelOp getKernel(StringRef name) const { return regions.lookup(name); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ArrayAttr launches;
  std::unique_ptr<EmulatedKernels> kernels;

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  /// In the order in which rank-to-llvm names them: the first of each body.
  void collect() {
    llvm::StringMap<std::string> known;
    module->walk([&](rank::KernelOp work) {
      std::string body;
      llvm::raw_string_ostream stream(body);
      for (Operation &op : work.getBody().front())
        op.print(stream, OpPrintingFlags().useLocalScope());
      for (BlockArgument argument : work.getBody().getArguments())
        stream << argument.getType();
      std::string &name = known[body];
      if (name.empty())
        regions[name = "kernel_" + std::to_string(known.size() - 1)] = work;
    });
  }

  TemporaryFolder folder;
  llvm::StringMap<rank::KernelOp> regions;
};

/// One kernel on random values: as the interpreter evaluates it, and emulated.
class KernelCase {
public:
  KernelCase(Step &step, DictionaryAttr launch, std::mt19937 &random)
      : step(step), launch(launch), name(launch.getAs<StringAttr>("name").str()), work(step.getKernel(name)) {
    Block &block = work.getBody().front();
    for (BlockArgument argument : block.getArguments())
      ins.push_back(draw(cast<RankedTensorType>(argument.getType()), random));
    for (Value output : cast<rank::YieldOp>(block.getTerminator()).getValues())
      types.push_back(cast<RankedTensorType>(output.getType()));
  }

  void check() {
    SCOPED_TRACE(name);
    std::vector<std::vector<char>> first;
    for (auto order : {par_emulation_forward, par_emulation_reverse, par_emulation_random}) {
      std::vector<Memory> outs = emulate(order);
      std::vector<std::vector<char>> bytes;
      for (const Memory &out : outs)
        bytes.push_back(out.bytes);
      if (first.empty()) {
        first = bytes;
        compare(outs);
      }
      EXPECT_EQ(bytes, first) << "in order " << order;
    }
  }

  bool isElementwise() const { return launch.getAs<StringAttr>("plan") == "elementwise"; }

  /// Rows that are added to a table which lies where the result does: nothing else of it is touched. False:
  /// the kernel does something else.
  bool checkInPlace() {
    SCOPED_TRACE(name);
    auto sum = cast<rank::YieldOp>(work.getBody().front().getTerminator()).getValues()[0].getDefiningOp();
    auto isScatter = [](Value value) { return value.getDefiningOp<EmbeddingBackwardOp>(); };
    if (!sum || !isa<arith::AddFOp>(sum) || llvm::none_of(sum->getOperands(), isScatter))
      return false;
    size_t table = 0;
    while (table < ins.size() && ins[table].type != types[0])
      ++table;
    for (Tensor &in : ins)
      if (in.type.getRank() == 0 && in.type.getElementType().isF32())
        in.values[0] = 1; // what the table is multiplied by
    std::vector<Memory> apart = emulate(par_emulation_forward), same = emulate(par_emulation_random, table);
    EXPECT_EQ(same[0].bytes, apart[0].bytes);
    auto buffers = launch.getAs<ArrayAttr>("buffers");
    EXPECT_EQ(cast<DictionaryAttr>(buffers[ins.size()]).getAs<StringAttr>("access"), "update");
    return true;
  }

private:
  /// Scalars are positive, as counts and scales are; ids are within any table.
  static Tensor draw(RankedTensorType type, std::mt19937 &random) {
    Tensor tensor(type);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> positive(0.3F, 0.7F);
    for (double &value : tensor.values)
      value = isa<IntegerType>(type.getElementType()) ? random() % 8
              : tensor.size() == 1                    ? positive(random)
                                                      : normal(random);
    tensor.round();
    for (double &value : tensor.values)
      value = static_cast<float>(value);
    return tensor;
  }

  /// The first output lies where the input `inPlace` does, if there is one.
  std::vector<Memory> emulate(par_emulation_order order, std::optional<size_t> inPlace = std::nullopt) {
    std::vector<Memory> memories;
    for (const Tensor &in : ins)
      memories.emplace_back(in.type).set(in);
    for (RankedTensorType type : types)
      memories.emplace_back(type);
    Buffers buffers;
    std::vector<uint64_t> addresses;
    for (auto [number, memory] : llvm::enumerate(memories)) {
      bool isShared = number == ins.size() && inPlace;
      std::vector<char> &bytes = isShared ? memories[*inPlace].bytes : memory.bytes;
      addresses.push_back(buffers.add(bytes.data(), bytes.size(),
                                      number < ins.size() ? BufferRole::Read
                                      : isShared          ? BufferRole::Update
                                                          : BufferRole::Write));
    }
    std::vector<int32_t> coords = getLastCoords();
    if (launch.getAs<BoolAttr>("coords").getValue())
      addresses.push_back(buffers.add(coords.data(), coords.size() * 4, BufferRole::Read));
    std::vector<void *> params;
    for (uint64_t &address : addresses)
      params.push_back(&address);
    par_emulation how = buffers.describe(order, /*seed=*/7);
    auto grid = getSize("grid"), block = getSize("block");
    par_emulated_kernel kernel = step.kernels->find(name);
    EXPECT_TRUE(kernel) << "no function for " << name;
    if (kernel)
      kernel(params.data(), grid.data(), block.data(), launch.getAs<IntegerAttr>("shared_bytes").getInt(),
             &how);
    buffers.finish();
    EXPECT_EQ(buffers.getFindings(), std::vector<std::string>());
    if (isElementwise())
      checkTraffic(memories, buffers.getBytesMoved());
    if (inPlace)
      memories[ins.size()] = memories[*inPlace];
    memories.erase(memories.begin(), memories.begin() + ins.size());
    return memories;
  }

  /// One pass over memory, in whole accesses; what has another shape is read more often than it has elements.
  void checkTraffic(ArrayRef<Memory> memories, const std::map<uint32_t, uint64_t> &moved) const {
    uint64_t needed = 0, all = 0;
    for (const Memory &memory : memories) {
      if (memory.type.getRank() > 0 && memory.type.getShape() != memories.back().type.getShape())
        return;
      needed += memory.type.getRank() ? memory.bytes.size() : 0;
    }
    for (auto [width, bytes] : moved)
      all += bytes;
    // Scalars are read by every thread.
    uint64_t wide = moved.count(16) ? moved.at(16) : 0;
    if (llvm::all_of(memories, [](const Memory &memory) { return memory.type.getRank() > 0; }))
      EXPECT_EQ(all, needed);
    if (memories.back().type.getShape().back() % 8 == 0)
      EXPECT_EQ(wide, needed);
  }

  std::array<uint32_t, 3> getSize(StringRef member) const {
    std::array<uint32_t, 3> size;
    llvm::copy(launch.getAs<DenseI64ArrayAttr>(member).asArrayRef(), size.begin());
    return size;
  }

  std::vector<int32_t> getLastCoords() const {
    std::vector<int32_t> coords;
    if (MeshAttr mesh = getMesh(*step.module))
      for (int64_t size : mesh.getSizes())
        coords.push_back(static_cast<int32_t>(size - 1));
    return coords;
  }

  /// With what the last rank computes.
  void compare(std::vector<Memory> &outs) {
    Interpreter interpreter(*step.module, getMesh(*step.module));
    std::vector<Tensors> arguments(interpreter.getNumRanks(), ins);
    FailureOr<std::vector<Tensors>> expected = interpreter.run(work.getBody().front(), arguments);
    ASSERT_TRUE(succeeded(expected));
    for (auto [number, out] : llvm::enumerate(outs))
      compare(expected->back()[number], out);
  }

  static void compare(const Tensor &expected, Memory &out) {
    double largest = 0, worst = 0;
    for (auto [number, value] : llvm::enumerate(expected.values)) {
      double got = out.get(number);
      EXPECT_EQ(std::isnan(value), std::isnan(got)) << "element " << number;
      if (!std::isfinite(value) || !std::isfinite(got)) {
        EXPECT_TRUE(std::isnan(value) || static_cast<float>(value) == got) << "element " << number;
        continue;
      }
      largest = std::max(largest, std::abs(value));
      worst = std::max(worst, std::abs(value - got));
    }
    bool isNarrow = expected.type.getElementType().isBF16();
    EXPECT_LE(worst, largest * (isNarrow ? 1.0 / 128 : 1e-5)) << "largest value " << largest;
  }

  Step &step;
  DictionaryAttr launch;
  std::string name;
  rank::KernelOp work;
  Tensors ins;
  SmallVector<RankedTensorType> types;
};

Plan makePlan(FloatKind dtype) {
  Plan plan;
  plan.seq = 16;
  plan.batch = 8;
  plan.microBatches = 2;
  plan.dtype = dtype;
  plan.target = TargetKind::Cuda;
  plan.chip = ChipKind::Sm90;
  return plan;
}

void checkAll(const std::string &model, const Plan &plan, std::vector<std::string> overrides = {}) {
  Step step(model, plan, std::move(overrides));
  std::mt19937 random(3);
  int elementwise = 0, inPlace = 0;
  for (auto launch : step.launches.getAsRange<DictionaryAttr>()) {
    KernelCase one(step, launch, random);
    one.check();
    elementwise += one.isElementwise();
    inPlace += one.checkInPlace();
  }
  EXPECT_GT(elementwise, 0);
  EXPECT_EQ(inPlace > 0, plan.microBatches > 1) << "gradients of tables are added up over micro-batches";
  testing::Test::RecordProperty("kernels", static_cast<int>(step.launches.size()));
  testing::Test::RecordProperty("elementwise", elementwise);
}

const std::vector<std::string> kDropout = {"attn_pdrop=0.1", "embd_pdrop=0.1", "resid_pdrop=0.1"};

TEST(GenericKernelTest, Gpt2InF32) { checkAll("gpt2", makePlan(FloatKind::F32), kDropout); }
TEST(GenericKernelTest, Gpt2InBf16) { checkAll("gpt2", makePlan(FloatKind::BF16), kDropout); }
TEST(GenericKernelTest, LlamaInF32) { checkAll("llama", makePlan(FloatKind::F32)); }
TEST(GenericKernelTest, LlamaInBf16) { checkAll("llama", makePlan(FloatKind::BF16)); }

/// Kernels that ask where their rank is.
TEST(GenericKernelTest, LlamaOnEightRanks) {
  Plan plan = makePlan(FloatKind::F32);
  plan.mesh = {{"dp", 4}, {"tp", 2}};
  plan.zero = 3;
  plan.sequenceParallel = true;
  plan.microBatches = 1;
  checkAll("llama", plan);
}
} // namespace

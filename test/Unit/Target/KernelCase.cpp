//===- KernelCase.cpp - kernels of a program, emulated, are what the interpreter says -----------===//
#include "KernelCase.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "par/Conversion/KernelNames.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Epilogue.h"
#include "llvm/Support/MemoryBuffer.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;
using ::par::emulation::BufferRole;
using ::par::emulation::Buffers;

KernelProgram::KernelProgram(ModuleOp module, const Plan &plan, function_ref<LogicalResult(ModuleOp)> emit,
                             bool counts)
    : module(module) {
  collect();
  load(plan, emit, counts);
}

void KernelProgram::load(const Plan &plan, function_ref<LogicalResult(ModuleOp)> emit, bool counts) {
  OwningOpRef<ModuleOp> program = module.clone();
  EXPECT_TRUE(succeeded(emit(*program)));
  auto device = program->lookupSymbol<ModuleOp>(kDeviceModule);
  ASSERT_TRUE(device);
  for (auto function : device.getOps<LLVM::LLVMFuncOp>())
    if (auto launch = function->getAttrOfType<DictionaryAttr>(kLaunchAttr))
      launches[function.getName()] = launch;
  std::string error =
      llvm::toString(findTarget(plan.target)->writeProgram(*program, plan, "", folder.at("program0.so")));
  ASSERT_EQ(error, "");
  auto bitcode = llvm::MemoryBuffer::getFile(folder.at("program0.bc"));
  kernels = std::make_unique<EmulatedKernels>((*bitcode)->getMemBufferRef(), counts);
  ASSERT_EQ(kernels->error, "");
}

void KernelProgram::collect() {
  EXPECT_TRUE(succeeded(nameKernels(module, [&](rank::WorkOpInterface work, StringRef name) {
    auto gemm = dyn_cast<rank::GemmOp>(*work);
    if (gemm)
      epilogues.push_back(rank::separateEpilogue(gemm));
    names.push_back(name.str());
    regions[name] = gemm ? rank::WorkOpInterface(epilogues.back().get()) : work;
    return success();
  })));
}

/// Where the mask is said to be a diagonal, positions are.
template <typename Op>
static void drawDiagonals(Block &block, Tensors &ins) {
  for (auto op : block.getOps<Op>())
    for (Value positions : {op.getQPositions(), op.getKPositions()})
      if (auto argument = dyn_cast<BlockArgument>(positions); argument && op.getDiagonal()) {
        std::vector<double> &values = ins[argument.getArgNumber()].values;
        std::iota(values.begin(), values.end(), 0.0);
      }
}

KernelCase::KernelCase(const KernelProgram &program, const std::string &name, std::mt19937 &random)
    : work(program.regions.lookup(name)), program(program), name(name) {
  Block &block = work.getBody().front();
  for (BlockArgument argument : block.getArguments())
    ins.push_back(drawTensor(cast<RankedTensorType>(argument.getType()), random));
  drawDiagonals<AttentionOp>(block, ins);
  drawDiagonals<AttentionBackwardOp>(block, ins);
  for (Value output : cast<rank::YieldOp>(block.getTerminator()).getValues())
    types.push_back(cast<RankedTensorType>(output.getType()));
}

void KernelCase::check() {
  SCOPED_TRACE(name + ", " + getPlan().str());
  std::vector<DeviceBytes> first;
  for (auto order : {par_emulation_forward, par_emulation_reverse, par_emulation_random}) {
    std::vector<Memory> outs = first.empty() ? checkValues(order) : emulate(order);
    std::vector<DeviceBytes> bytes;
    for (const Memory &out : outs)
      bytes.push_back(out.bytes);
    if (first.empty())
      first = bytes;
    EXPECT_EQ(bytes, first) << "in order " << order;
  }
}

std::vector<Memory> KernelCase::checkValues(par_emulation_order order) {
  std::vector<Memory> outs = emulate(order);
  compare(outs);
  return outs;
}

//===----------------------------------------------------------------------===//
// Emulation
//===----------------------------------------------------------------------===//

void KernelCase::makeMemories() {
  memories.clear();
  launched.clear();
  moved.clear();
  sectors.clear();
  for (const Tensor &in : ins)
    memories.emplace_back(in.type).set(in);
  for (RankedTensorType type : types)
    memories.emplace_back(type);
  for (Value scratch : work.getScratch())
    memories.emplace_back(
        RankedTensorType::get({rank::getBytes(scratch) / 4}, Float32Type::get(work.getContext())));
}

std::string KernelCase::getNext(StringRef launch) const {
  auto following = getLaunch(launch).getAs<StringAttr>(launch::kNext);
  return following ? following.str() : "";
}

void KernelCase::list() {
  makeMemories();
  for (std::string next = name; !next.empty(); next = getNext(next))
    launched.push_back(next);
}

std::vector<Memory> KernelCase::emulate(par_emulation_order order, std::optional<size_t> inPlace) {
  makeMemories();
  for (std::string next = name; !next.empty(); next = getNext(next)) {
    launchOne(next, order, inPlace);
    launched.push_back(next);
  }
  if (inPlace)
    memories[ins.size()] = memories[*inPlace];
  return {memories.begin() + ins.size(), memories.begin() + ins.size() + types.size()};
}

DeviceBytes KernelCase::getContents(size_t operand) const {
  if (operand >= ins.size())
    return memories[operand].bytes;
  Memory memory(ins[operand].type);
  memory.set(ins[operand]);
  return memory.bytes;
}

static std::array<uint32_t, 3> getSize(DictionaryAttr launch, StringRef member) {
  std::array<uint32_t, 3> size;
  llvm::copy(launch.getAs<DenseI64ArrayAttr>(member).asArrayRef(), size.begin());
  return size;
}

void KernelCase::launchOne(StringRef launchName, par_emulation_order order, std::optional<size_t> inPlace) {
  DictionaryAttr how = getLaunch(launchName);
  ArrayRef<int64_t> operands = how.getAs<DenseI64ArrayAttr>(launch::kOperands);
  Buffers buffers;
  std::vector<uint64_t> addresses;
  for (auto [operand, access] :
       llvm::zip(operands, how.getAs<ArrayAttr>(launch::kAccess).getAsValueRange<StringAttr>())) {
    bool isShared = operand == static_cast<int64_t>(ins.size()) && inPlace;
    DeviceBytes &bytes = memories[isShared ? static_cast<int64_t>(*inPlace) : operand].bytes;
    BufferRole role = access == "read"                 ? BufferRole::Read
                      : isShared || access == "update" ? BufferRole::Update
                                                       : BufferRole::Write;
    addresses.push_back(buffers.add(bytes.data(), bytes.size(), role));
  }
  std::vector<int32_t> coords = getLastCoords();
  if (how.getAs<BoolAttr>(launch::kCoords).getValue())
    addresses.push_back(buffers.add(coords.data(), coords.size() * 4, BufferRole::Read));
  std::vector<void *> params;
  for (uint64_t &address : addresses)
    params.push_back(&address);
  par_emulation emulation = buffers.describe(order, /*seed=*/7);
  auto grid = getSize(how, launch::kGrid), block = getSize(how, launch::kBlock);
  par_emulated_kernel kernel = program.kernels->find(launchName.str());
  ASSERT_TRUE(kernel) << "no function for " << launchName.str();
  kernel(params.data(), grid.data(), block.data(), how.getAs<IntegerAttr>(launch::kSharedBytes).getInt(),
         &emulation);
  buffers.finish();
  EXPECT_EQ(buffers.getFindings(), std::vector<std::string>());
  auto &bytes = moved.emplace_back();
  auto &fetched = sectors.emplace_back();
  for (auto [number, operand] : llvm::enumerate(operands)) {
    bytes[operand] = buffers.getBytesMoved(number);
    fetched[operand] = buffers.getSectorUse(number);
  }
}

int64_t KernelCase::countInstructions(int64_t operand) const {
  auto getWidth = [](const Memory &memory) {
    return static_cast<int64_t>(memory.bytes.size()) / memory.type.getNumElements();
  };
  int64_t narrowest = 16;
  for (const Memory &memory : memories)
    if (memory.type.getRank() > 0 && isa<FloatType>(memory.type.getElementType()))
      narrowest = std::min(narrowest, getWidth(memory));
  return std::clamp<int64_t>(getWidth(memories[operand]) / narrowest, 1, 2);
}

std::map<uint32_t, uint64_t> KernelCase::getMoved(size_t launch, int64_t operand) const {
  auto found = moved[launch].find(operand);
  return found == moved[launch].end() ? std::map<uint32_t, uint64_t>() : found->second;
}

std::vector<int32_t> KernelCase::getLastCoords() const {
  std::vector<int32_t> coords;
  if (MeshAttr mesh = getMesh(program.module))
    for (int64_t size : mesh.getSizes())
      coords.push_back(static_cast<int32_t>(size - 1));
  return coords;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// With what the last rank computes.
void KernelCase::compare(std::vector<Memory> &outs) {
  Interpreter interpreter(program.module, getMesh(program.module));
  std::vector<Tensors> arguments(interpreter.getNumRanks(), ins);
  FailureOr<std::vector<Tensors>> expected = interpreter.run(work.getBody().front(), arguments);
  ASSERT_TRUE(succeeded(expected));
  for (auto [number, out] : llvm::enumerate(outs))
    compareTensors(expected->back()[number], out, slack);
}

//===- NativeProgram.cpp - functions of tensors, compiled for a processor and run -----------------===//
#include "NativeProgram.h"
#include "cpu/CpuDevice.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "par/Conversion/Passes.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Target/Target.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// What programs call
//===----------------------------------------------------------------------===//

static int64_t partsOfKernels = 1;

/// As par_parallel, on one thread and with parts of our own choice: a kernel of few elements has one there.
extern "C" void par_test_parallel(void *context, void *kernel, void *buffers, int64_t) {
  auto function = reinterpret_cast<void (*)(void *, void *, int64_t, int64_t)>(kernel);
  for (int64_t part = partsOfKernels; part-- > 0;)
    function(context, buffers, part, partsOfKernels);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// `void NAME.entry(context, operands)`: the form in which a function of any number of buffers is called.
static void addEntry(ModuleOp module, LLVM::LLVMFuncOp callee) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()), {pointer, pointer});
  std::string name = (callee.getName().drop_back(StringRef(".rank").size()) + ".entry").str();
  if (module.lookupSymbol(name))
    return; // a schedule's
  auto entry = builder.create<LLVM::LLVMFuncOp>(loc, name, type);
  builder.setInsertionPointToStart(entry.addEntryBlock(builder));
  SmallVector<Value> arguments{entry.getArgument(0)};
  for (int32_t number = 0, count = static_cast<int32_t>(callee.getNumArguments()) - 1; number < count;
       ++number)
    arguments.push_back(
        builder.create<LLVM::LoadOp>(loc, pointer,
                                     builder.create<LLVM::GEPOp>(loc, pointer, pointer, entry.getArgument(1),
                                                                 ArrayRef<LLVM::GEPArg>{number})));
  builder.create<LLVM::CallOp>(loc, TypeRange{}, callee.getName(), arguments);
  builder.create<LLVM::ReturnOp>(loc, ValueRange{});
}

NativeCode::NativeCode(OwningOpRef<ModuleOp> program) : module(std::move(program)) {
  if (!module)
    return;
  for (auto function : module->getOps<rank::FuncOp>())
    frames[function.getSymName()] = function.getFrame().value_or(0);
  PassManager manager(module->getContext());
  manager.addPass(createRankToLLVM());
  if (failed(manager.run(*module))) {
    module = nullptr;
    return;
  }
  for (auto function : llvm::to_vector(module->getOps<LLVM::LLVMFuncOp>())) {
    if (function.getName().ends_with(".rank"))
      addEntry(*module, function);
    if (function.getName() == "par_parallel") {
      EXPECT_TRUE(succeeded(SymbolTable::replaceAllSymbolUses(
          function, StringAttr::get(module->getContext(), "par_test_parallel"), *module)));
      function.setName("par_test_parallel");
    }
  }
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

bool mlir::par::runsHere(ChipKind chip) {
  Plan plan;
  plan.chip = chip;
  llvm::json::Object machine;
  findTarget(TargetKind::Cpu)->describeMachine(plan, machine);
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  return llvm::all_of(*machine.getArray("cpu_features"),
                      [&](const llvm::json::Value &feature) { return host.lookup(*feature.getAsString()); });
}

NativeProgram::NativeProgram(const NativeCode &code, ChipKind chip) : code(code) {
  Plan plan;
  plan.chip = chip;
  std::string path = folder.at("program.so");
  error = llvm::toString(findTarget(TargetKind::Cpu)->writeProgram(*code.module, plan, "", path));
  if (!error.empty())
    return;
  // Lazily: the schedule calls what only a run of a package has.
  library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    error = dlerror();
}

NativeProgram::~NativeProgram() {
  if (library)
    dlclose(library);
}

/// A buffer with as much memory behind it as a vector may reach.
static DeviceBytes surround(const DeviceBytes &bytes) {
  DeviceBytes all(bytes.size() + 64, static_cast<char>(0xA5));
  std::copy(bytes.begin(), bytes.end(), all.begin());
  return all;
}

std::vector<Memory> NativeProgram::run(StringRef name, const Tensors &arguments,
                                       ArrayRef<RankedTensorType> results, int64_t parts) {
  std::vector<Memory> memories;
  for (const Tensor &argument : arguments)
    memories.emplace_back(argument.type).set(argument);
  for (RankedTensorType type : results)
    memories.emplace_back(type);
  std::vector<DeviceBytes> buffers;
  for (const Memory &memory : memories)
    buffers.push_back(surround(memory.bytes));
  DeviceBytes frame(code.frames.lookup(name) + 64);
  std::vector<void *> operands{frame.data()};
  for (DeviceBytes &buffer : buffers)
    operands.push_back(buffer.data());

  ::par::cpu::CpuDeviceOptions options;
  options.poison = true;
  ::par::cpu::CpuDevice device(options);
  const int32_t coords[] = {1}; // of the last rank
  ::par::device::Context context;
  context.coords = coords;
  context.device = &device;
  partsOfKernels = parts;
  auto function =
      reinterpret_cast<void (*)(par_context *, void **)>(dlsym(library, (name + ".entry").str().c_str()));
  EXPECT_TRUE(function) << name.str();
  if (function)
    function(&context, operands.data());

  for (auto [number, memory] : llvm::enumerate(memories)) {
    DeviceBytes before = surround(memory.bytes);
    size_t size = memory.bytes.size();
    EXPECT_TRUE(std::equal(before.begin() + size, before.end(), buffers[number].begin() + size))
        << name.str() << " writes behind operand " << number;
    EXPECT_TRUE(number >= arguments.size() || before == buffers[number])
        << name.str() << " changes argument " << number;
    std::copy_n(buffers[number].begin(), size, memory.bytes.begin());
  }
  return {memories.begin() + static_cast<ptrdiff_t>(arguments.size()), memories.end()};
}

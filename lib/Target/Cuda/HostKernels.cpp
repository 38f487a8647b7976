//===- HostKernels.cpp - kernels of a GPU as functions for a processor ----------------------------===//
#include "HostKernels.h"
#include "par/Support/MakeError.h"
#include "par/emulation.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/IR/Verifier.h"

using namespace mlir::par;
using namespace llvm;

/// As sharedWindow of runtime/emulation/Launch.h.
static constexpr uint64_t kSharedWindow = uint64_t(1) << 63;
static constexpr unsigned kSharedSpace = 3;
static constexpr StringLiteral kIntrinsics = "llvm.nvvm.";

namespace {
struct Emulated {
  StringRef name, function;
  bool isTogether;
};
} // namespace

static const Emulated *findEmulated(StringRef name) {
  static constexpr Emulated all[] = {
#define PAR_SPECIAL(name, symbol) {name, "par_emulate_" #symbol, false},
#define PAR_TOGETHER(name, symbol) {name, "par_emulate_" #symbol, true},
#include "par/EmulatedIntrinsics.def"
  };
  const Emulated *found = find_if(all, [&](const Emulated &each) { return each.name == name; });
  return found == std::end(all) ? nullptr : found;
}

static std::vector<Function *> findKernels(Module &module) {
  std::vector<Function *> kernels;
  if (NamedMDNode *annotations = module.getNamedMetadata("nvvm.annotations"))
    for (MDNode *node : annotations->operands())
      for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2)
        if (auto *key = dyn_cast<MDString>(node->getOperand(i)); key && key->getString() == "kernel")
          kernels.push_back(mdconst::extract<Function>(node->getOperand(0)));
  return kernels;
}

namespace {
class HostRewriter {
public:
  explicit HostRewriter(Module &module)
      : module(module), builder(module.getContext()), pointer(builder.getPtrTy()),
        kernels(findKernels(module)) {}

  Error run() {
    std::vector<Instruction *> instructions;
    for (Function &function : module)
      for (BasicBlock &block : function)
        for (Instruction &instruction : block)
          instructions.push_back(&instruction);
    describePlaces(instructions);
    for (Instruction *instruction : instructions)
      if (Error error = rewrite(*instruction))
        return error;
    layOutShared();
    for (Function *kernel : kernels)
      writeEntry(*kernel);
    clean();
    return Error::success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  Error rewrite(Instruction &instruction) {
    builder.SetInsertPoint(&instruction);
    if (auto *load = dyn_cast<LoadInst>(&instruction))
      askFor(*load, load->getPointerOperand(), load->getType(), load->getAlign(), par_emulation_load);
    else if (auto *store = dyn_cast<StoreInst>(&instruction))
      askFor(*store, store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(),
             par_emulation_store);
    else if (auto *atomic = dyn_cast<AtomicRMWInst>(&instruction))
      askFor(*atomic, atomic->getPointerOperand(), atomic->getType(), atomic->getAlign(),
             par_emulation_atomic);
    else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
      askFor(*exchange, exchange->getPointerOperand(), exchange->getNewValOperand()->getType(),
             exchange->getAlign(), par_emulation_atomic);
    else if (auto *call = dyn_cast<CallInst>(&instruction))
      return rewriteCall(*call);
    return Error::success();
  }

  /// A thread's own variables are the host's, and so are tables that nobody writes.
  static bool isOwn(const Value *address) {
    const Value *object = getUnderlyingObject(address);
    auto *global = dyn_cast<GlobalVariable>(object);
    return isa<AllocaInst>(object) || (global && global->isConstant());
  }

  void askFor(Instruction &access, Value *address, Type *type, Align alignment, par_emulation_access kind) {
    // What is known of the GPU's memory does not hold where each access may be a report.
    access.dropUnknownNonDebugMetadata();
    if (isOwn(address))
      return;
    uint64_t bytes = module.getDataLayout().getTypeStoreSize(type);
    FunctionCallee callee =
        module.getOrInsertFunction("par_emulate_access", pointer, builder.getInt64Ty(), builder.getInt32Ty(),
                                   builder.getInt32Ty(), builder.getInt32Ty(), pointer);
    Value *host = builder.CreateCall(callee, {builder.CreatePtrToInt(address, builder.getInt64Ty()),
                                              builder.getInt32(bytes), builder.getInt32(alignment.value()),
                                              builder.getInt32(kind), getPlace(access)});
    if (auto *load = dyn_cast<LoadInst>(&access))
      load->setOperand(LoadInst::getPointerOperandIndex(), host);
    else if (auto *store = dyn_cast<StoreInst>(&access))
      store->setOperand(StoreInst::getPointerOperandIndex(), host);
    else
      access.setOperand(0, host);
  }

  static bool isTogether(const Instruction &instruction) {
    auto *call = dyn_cast<CallInst>(&instruction);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    StringRef name = callee ? callee->getName() : "";
    const Emulated *emulated = name.consume_front(kIntrinsics) ? findEmulated(name) : nullptr;
    return emulated && emulated->isTogether;
  }

  /// The kernel, the number of the instruction in it, and the instruction as text, of whatever may be
  /// reported; before anything is rewritten. No two places are equal: threads that meet are compared by them.
  void describePlaces(ArrayRef<Instruction *> instructions) {
    ModuleSlotTracker numbers(&module);
    Function *function = nullptr;
    unsigned count = 0;
    for (Instruction *instruction : instructions) {
      if (instruction->getFunction() != function) {
        numbers.incorporateFunction(*(function = instruction->getFunction()));
        count = 0;
      }
      ++count;
      if (!instruction->mayReadOrWriteMemory() && !isTogether(*instruction))
        continue;
      raw_string_ostream stream(places[instruction]);
      stream << function->getName() << ":" << count << ":";
      instruction->print(stream, numbers);
    }
  }

  Constant *getPlace(Instruction &instruction) {
    return builder.CreateGlobalStringPtr(places.lookup(&instruction), "place", 0, &module);
  }

  //===--------------------------------------------------------------------===//
  // Calls
  //===--------------------------------------------------------------------===//

  static Error refuse(CallInst &call, const Twine &what) {
    return makeError("kernel " + call.getFunction()->getName() + ": there is no emulation of " + what);
  }

  Error rewriteCall(CallInst &call) {
    if (auto *text = dyn_cast<InlineAsm>(call.getCalledOperand())) {
      const Emulated *emulated = findEmulated(text->getAsmString());
      return emulated ? callEmulator(call, *emulated)
                      : refuse(call, "inline assembly: " + StringRef(text->getAsmString()));
    }
    Function *callee = call.getCalledFunction();
    if (!callee)
      return refuse(call, "calls through pointers");
    if (!callee->isDeclaration())
      return Error::success();
    StringRef name = callee->getName();
    if (name.consume_front(kIntrinsics)) {
      const Emulated *emulated = findEmulated(name);
      return emulated ? callEmulator(call, *emulated) : refuse(call, callee->getName());
    }
    if (auto *memory = dyn_cast<MemIntrinsic>(&call); memory && isOwn(memory->getDest())) {
      auto *transfer = dyn_cast<MemTransferInst>(memory);
      return !transfer || isOwn(transfer->getSource()) ? Error::success() : refuse(call, callee->getName());
    }
    auto *intrinsic = dyn_cast<IntrinsicInst>(&call);
    bool isPure = intrinsic && (call.doesNotAccessMemory() || intrinsic->isAssumeLikeIntrinsic());
    return isPure ? Error::success() : refuse(call, callee->getName());
  }

  Error callEmulator(CallInst &call, const Emulated &emulated) {
    SmallVector<Value *> arguments(call.args());
    if (emulated.isTogether)
      arguments.push_back(getPlace(call));
    // As C functions give several words.
    Type *result = call.getType();
    Value *results = result->isStructTy() ? createVariable(call, result) : nullptr;
    if (results)
      arguments.insert(arguments.begin(), results);
    SmallVector<Type *> types;
    for (Value *argument : arguments)
      types.push_back(argument->getType());
    Type *given = results ? builder.getVoidTy() : result;
    FunctionCallee callee =
        module.getOrInsertFunction(emulated.function, FunctionType::get(given, types, /*isVarArg=*/false));
    CallInst *replaced = builder.CreateCall(callee, arguments);
    // As C functions give and take narrow numbers.
    for (unsigned i = 0; i < arguments.size(); ++i)
      if (types[i]->isIntegerTy(1))
        replaced->addParamAttr(i, Attribute::ZExt);
    if (call.getType()->isIntegerTy(1))
      replaced->addRetAttr(Attribute::ZExt);
    Value *value = results ? static_cast<Value *>(builder.CreateLoad(result, results)) : replaced;
    call.replaceAllUsesWith(value);
    call.eraseFromParent();
    return Error::success();
  }

  /// In the function's frame, once for all times that the code comes here.
  static Value *createVariable(CallInst &call, Type *type) {
    IRBuilder<> atEntry(&*call.getFunction()->getEntryBlock().begin());
    return atEntry.CreateAlloca(type);
  }

  //===--------------------------------------------------------------------===//
  // Shared memory and entries
  //===--------------------------------------------------------------------===//

  /// What a launch asks for beside it lies behind the variables.
  void layOutShared() {
    for (bool isOfLaunch : {false, true})
      for (GlobalVariable &global : make_early_inc_range(module.globals())) {
        uint64_t size = module.getDataLayout().getTypeAllocSize(global.getValueType());
        if (global.getAddressSpace() != kSharedSpace || (size == 0) != isOfLaunch)
          continue;
        uint64_t alignment = std::max<uint64_t>(global.getAlign().valueOrOne().value(), 16);
        sharedBytes = alignTo(sharedBytes, alignment);
        Constant *address = builder.getInt64(kSharedWindow + sharedBytes);
        sharedBytes += size;
        global.replaceAllUsesWith(ConstantExpr::getIntToPtr(address, global.getType()));
        global.eraseFromParent();
      }
  }

  /// void par_emulated_<name>(params, grid, block, shared_bytes, how)
  void writeEntry(Function &kernel) {
    Function *launcher = writeLauncher(kernel);
    Type *narrow = builder.getInt32Ty();
    auto *type = FunctionType::get(builder.getVoidTy(), {pointer, pointer, pointer, narrow, pointer}, false);
    auto *entry =
        Function::Create(type, GlobalValue::ExternalLinkage, "par_emulated_" + kernel.getName(), module);
    builder.SetInsertPoint(BasicBlock::Create(module.getContext(), "", entry));
    FunctionCallee callee =
        module.getOrInsertFunction("par_emulate_launch", builder.getVoidTy(), pointer, builder.getInt64Ty(),
                                   pointer, pointer, pointer, narrow, pointer);
    builder.CreateCall(callee, {launcher, builder.getInt64(sharedBytes), entry->getArg(0), entry->getArg(1),
                                entry->getArg(2), entry->getArg(3), entry->getArg(4)});
    builder.CreateRetVoid();
  }

  /// Calls the kernel with parameters from an array of pointers to them.
  Function *writeLauncher(Function &kernel) {
    auto *type = FunctionType::get(builder.getVoidTy(), {pointer}, false);
    auto *launcher =
        Function::Create(type, GlobalValue::InternalLinkage, kernel.getName() + ".thread", module);
    builder.SetInsertPoint(BasicBlock::Create(module.getContext(), "", launcher));
    SmallVector<Value *> arguments;
    for (Argument &argument : kernel.args()) {
      Value *entry = builder.CreateConstGEP1_64(pointer, launcher->getArg(0), argument.getArgNo());
      arguments.push_back(builder.CreateLoad(argument.getType(), builder.CreateLoad(pointer, entry)));
    }
    builder.CreateCall(&kernel, arguments)->setCallingConv(kernel.getCallingConv());
    builder.CreateRetVoid();
    return launcher;
  }

  /// What is the GPU's.
  void clean() {
    for (Function &function : make_early_inc_range(module)) {
      if (function.isDeclaration() && function.use_empty()) {
        function.eraseFromParent();
        continue;
      }
      if (function.isIntrinsic())
        continue;
      function.setAttributes(AttributeList());
      function.addFnAttr(Attribute::NoUnwind);
    }
    for (Function *kernel : kernels)
      kernel->setLinkage(GlobalValue::InternalLinkage);
    for (StringRef name : {"nvvm.annotations", "nvvmir.version"})
      if (NamedMDNode *node = module.getNamedMetadata(name))
        node->eraseFromParent();
  }

  Module &module;
  IRBuilder<> builder;
  Type *pointer;
  std::vector<Function *> kernels;
  DenseMap<Instruction *, std::string> places;
  uint64_t sharedBytes = 0;
};
} // namespace

Error mlir::par::rewriteForHost(Module &module, const llvm::DataLayout &layout, StringRef triple) {
  if (Error error = HostRewriter(module).run())
    return error;
  module.setTargetTriple(triple);
  module.setDataLayout(layout);
  std::string why;
  raw_string_ostream stream(why);
  return verifyModule(module, &stream) ? makeError("kernels for a processor: " + why) : Error::success();
}

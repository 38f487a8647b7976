//===- InstructionCounts.cpp - what emulated kernels execute --------------------------------------===//
#include "InstructionCounts.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace mlir::par;

/// Divisions of f32 and of integers become about so many instructions.
static constexpr uint64_t kQuotient = 9, kWholeQuotient = 5;

static bool isFree(const Instruction &instruction) {
  if (auto *address = dyn_cast<GetElementPtrInst>(&instruction))
    return address->hasAllConstantIndices();
  if (auto *cast = dyn_cast<CastInst>(&instruction))
    return isa<BitCastInst, TruncInst, PtrToIntInst, IntToPtrInst, AddrSpaceCastInst>(cast) ||
           cast->getSrcTy()->isIntegerTy(1);
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
      intrinsic && intrinsic->isAssumeLikeIntrinsic())
    return true;
  return instruction.getOpcode() == Instruction::FNeg ||
         isa<PHINode, ExtractValueInst, InsertValueInst, ExtractElementInst, InsertElementInst, FreezeInst,
             UnreachableInst, ReturnInst>(instruction);
}

static StringRef getName(const CallBase &call) {
  if (auto *text = dyn_cast<InlineAsm>(call.getCalledOperand()))
    return text->getAsmString();
  const Function *callee = call.getCalledFunction();
  return callee ? callee->getName() : "";
}

static void countCall(const CallBase &call, EmulatedCounts &counts) {
  StringRef name = getName(call);
  counts.matrices += name.contains(".mma.");
  counts.accesses += name.contains(".ldmatrix.");
  for (StringRef function : {"ex2.approx", "rcp.approx", "tanh.approx", "llvm.sqrt"})
    counts.functions += name.contains(function);
}

static void count(const Instruction &instruction, EmulatedCounts &counts) {
  if (isFree(instruction))
    return;
  bool isWide = instruction.getType()->isIntegerTy(64) && isa<BinaryOperator>(instruction);
  counts.instructions += isWide ? 2 : 1;
  if (instruction.getOpcode() == Instruction::FDiv) {
    counts.instructions += kQuotient - 1;
    ++counts.functions;
  }
  if (instruction.isIntDivRem())
    counts.instructions += kWholeQuotient - 1;
  counts.accesses += isa<LoadInst, StoreInst>(instruction);
  if (auto *call = dyn_cast<CallBase>(&instruction))
    countCall(*call, counts);
}

void InstructionCounts::collect(Module &module) {
  for (Function &function : module)
    for (BasicBlock &block : function) {
      EmulatedCounts counts{};
      for (const Instruction &instruction : block)
        count(instruction, counts);
      blocks.push_back({&block, counts});
    }
}

void InstructionCounts::write(Module &module) const {
  IRBuilder<> builder(module.getContext());
  llvm::Type *word = builder.getInt64Ty();
  auto *type = ArrayType::get(word, sizeof(EmulatedCounts) / sizeof(uint64_t));
  auto *counters = new GlobalVariable(module, type, /*isConstant=*/false, GlobalValue::ExternalLinkage,
                                      ConstantAggregateZero::get(type), kEmulatedCounts);
  for (auto [block, counts] : blocks) {
    builder.SetInsertPoint(&*block->getFirstInsertionPt());
    unsigned number = 0;
    for (uint64_t each : {counts.instructions, counts.matrices, counts.functions, counts.accesses}) {
      llvm::Value *counter = builder.CreateConstGEP2_32(type, counters, 0, number++);
      if (each)
        builder.CreateStore(builder.CreateAdd(builder.CreateLoad(word, counter), builder.getInt64(each)),
                            counter);
    }
  }
}

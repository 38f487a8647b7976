//===- Bf16Accesses.cpp - numbers of bf16 that are accessed side by side --------------------------===//
#include "Bf16Accesses.h"
#include "Bf16Pair.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

static constexpr uint32_t kUpperHalf = 0xFFFF0000;

/// <4 x i32> of <8 x i16>; null for others.
static FixedVectorType *getPairs(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  if (!vector || !vector->getElementType()->isIntegerTy(16) || vector->getNumElements() % 2 != 0)
    return nullptr;
  return FixedVectorType::get(Type::getInt32Ty(type->getContext()), vector->getNumElements() / 2);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// `element` of a load is an f32 wherever this is all that becomes of it: its bits, 16 to the left.
static void widen(ExtractElementInst *element, Value *pair, bool isUpper, IRBuilder<> &builder) {
  for (User *user : make_early_inc_range(element->users())) {
    auto *wide = dyn_cast<ZExtInst>(user);
    if (!wide || !wide->getType()->isIntegerTy(32))
      continue;
    for (User *shift : make_early_inc_range(wide->users()))
      if (match(shift, m_Shl(m_Specific(wide), m_SpecificInt(16))))
        shift->replaceAllUsesWith(isUpper ? builder.CreateAnd(pair, kUpperHalf)
                                          : builder.CreateShl(pair, 16));
  }
  if (element->use_empty())
    return;
  Value *narrow = builder.CreateTrunc(isUpper ? builder.CreateLShr(pair, 16) : pair, element->getType());
  element->replaceAllUsesWith(narrow);
}

static void pairLoad(LoadInst *load, FixedVectorType *pairs) {
  SmallVector<ExtractElementInst *> elements;
  for (User *user : load->users()) {
    auto *element = dyn_cast<ExtractElementInst>(user);
    if (!element || !isa<ConstantInt>(element->getIndexOperand()))
      return;
    elements.push_back(element);
  }
  IRBuilder<> builder(load);
  LoadInst *whole = builder.CreateAlignedLoad(pairs, load->getPointerOperand(), load->getAlign());
  whole->copyMetadata(*load);
  SmallVector<Value *> each;
  for (unsigned number = 0; number < pairs->getNumElements(); ++number)
    each.push_back(builder.CreateExtractElement(whole, number));
  for (ExtractElementInst *element : elements) {
    uint64_t number = cast<ConstantInt>(element->getIndexOperand())->getZExtValue();
    widen(element, each[number / 2], number % 2 == 1, builder);
  }
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// What is rounded to the upper half of a pair whose lower one is zero (packBf16), and that half stored; or
/// null.
static CallInst *findRounding(Value *stored) {
  Value *pair = nullptr;
  if (!match(stored, m_Trunc(m_LShr(m_Value(pair), m_SpecificInt(16)))))
    return nullptr;
  auto *call = dyn_cast<CallInst>(pair);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  bool isRounding = text && text->getAsmString() == mlir::par::kPackBf16;
  return isRounding && match(call->getArgOperand(1), m_PosZeroFP()) ? call : nullptr;
}

/// The elements that a vector is made of one by one; empty if it is not.
static SmallVector<Value *> getElements(Value *vector) {
  SmallVector<Value *> elements(cast<FixedVectorType>(vector->getType())->getNumElements());
  while (auto *insert = dyn_cast<InsertElementInst>(vector)) {
    auto *number = dyn_cast<ConstantInt>(insert->getOperand(2));
    if (!number)
      return {};
    if (Value *&element = elements[number->getZExtValue()]; !element)
      element = insert->getOperand(1);
    vector = insert->getOperand(0);
  }
  return is_contained(elements, nullptr) ? SmallVector<Value *>() : elements;
}

static void pairStore(StoreInst *store, FixedVectorType *pairs) {
  SmallVector<CallInst *> roundings;
  for (Value *element : getElements(store->getValueOperand()))
    roundings.push_back(findRounding(element));
  if (roundings.empty() || is_contained(roundings, nullptr))
    return;
  IRBuilder<> builder(store);
  Value *whole = PoisonValue::get(pairs);
  for (unsigned number = 0; number < pairs->getNumElements(); ++number) {
    CallInst *low = roundings[2 * number], *high = roundings[2 * number + 1];
    auto *both = cast<CallInst>(high->clone());
    both->setArgOperand(1, low->getArgOperand(0));
    whole = builder.CreateInsertElement(whole, builder.Insert(both), number);
  }
  builder.CreateAlignedStore(whole, store->getPointerOperand(), store->getAlign())->copyMetadata(*store);
  store->eraseFromParent();
}

void mlir::par::pairBf16Accesses(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      if (auto *load = dyn_cast<LoadInst>(&instruction))
        if (FixedVectorType *pairs = getPairs(load->getType()))
          pairLoad(load, pairs);
      if (auto *store = dyn_cast<StoreInst>(&instruction))
        if (FixedVectorType *pairs = getPairs(store->getValueOperand()->getType()))
          pairStore(store, pairs);
    }
}

//===- RuntimeRecords.cpp - records of the runtime's ABI as LLVM types ----------------------------------===//

#include "par/Conversion/RuntimeRecords.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// The type letters of Records.def.
struct Letters {
  explicit Letters(MLIRContext *context)
      : P(LLVM::LLVMPointerType::get(context)), I(IntegerType::get(context, 32)),
        L(IntegerType::get(context, 64)), F(Float32Type::get(context)) {}
  Type P, I, L, F;
};

// A letter and the C type beside it say the same.
constexpr size_t sizeP = sizeof(void *), sizeI = 4, sizeL = 8, sizeF = sizeof(float);
#define PAR_RECORD(name)
#define PAR_MEMBER(letter, type, name) static_assert(sizeof(type) == size##letter, #name);
#define PAR_MEMBERS(letter, type, name, count) static_assert(sizeof(type) == size##letter, #name);
#define PAR_RECORD_END(name)
#include "par/Records.def"
} // namespace

#define PAR_RECORD(name)                                                                                     \
  LLVM::LLVMStructType RuntimeRecord<name>::getType(MLIRContext *context) {                                  \
    Letters letters(context);                                                                                \
    SmallVector<Type> members;
#define PAR_MEMBER(letter, type, name) members.push_back(letters.letter);
#define PAR_MEMBERS(letter, type, name, count)                                                               \
  members.push_back(LLVM::LLVMArrayType::get(letters.letter, count));
#define PAR_RECORD_END(name)                                                                                 \
  return LLVM::LLVMStructType::getLiteral(context, members);                                                 \
  }
#include "par/Records.def"

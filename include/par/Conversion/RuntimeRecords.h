//===- RuntimeRecords.h - records of the runtime's ABI as LLVM types -------------------------*- C++ -*-===//
//
// Records.def of the runtime, for code that is generated: the type of each record, and the number of each of
// its members.
//
//===----------------------------------------------------------------------------------------------------===//

#ifndef PAR_CONVERSION_RUNTIMERECORDS_H
#define PAR_CONVERSION_RUNTIMERECORDS_H

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "par/runtime.h"

namespace mlir::par {

/// A record by its C struct: `Member` has the names of its members as numbers, `getType` its LLVM type.
template <typename Record>
struct RuntimeRecord;

#define PAR_RECORD(name)                                                                                     \
  template <>                                                                                                \
  struct RuntimeRecord<name> {                                                                               \
    static LLVM::LLVMStructType getType(MLIRContext *context);                                               \
    enum Member : int32_t {
#define PAR_MEMBER(letter, type, name) name,
#define PAR_MEMBERS(letter, type, name, count) name,
#define PAR_RECORD_END(name)                                                                                 \
  }                                                                                                          \
  ;                                                                                                          \
  }                                                                                                          \
  ;
#include "par/Records.def"

} // namespace mlir::par

#endif // PAR_CONVERSION_RUNTIMERECORDS_H

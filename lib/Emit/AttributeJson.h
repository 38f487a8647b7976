//===- AttributeJson.h - attributes as JSON -------------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_EMIT_ATTRIBUTEJSON_H
#define PAR_LIB_EMIT_ATTRIBUTEJSON_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// Of texts, flags, numbers, and lists and dictionaries of such.
llvm::json::Value toJson(Attribute attribute);

} // namespace mlir::par

#endif // PAR_LIB_EMIT_ATTRIBUTEJSON_H

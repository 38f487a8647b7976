//===- BuiltinSources.h - the formats that par reads itself -----------------------------------*- C++ -*-===//
#ifndef PAR_LIB_SOURCE_BUILTINSOURCES_H
#define PAR_LIB_SOURCE_BUILTINSOURCES_H

#include "par/Source/ModelSource.h"

namespace mlir::par {

/// A Hugging Face folder or `config.json`.
ModelFormat getConfigFormat();
/// A module of par's dialects, as text or bytecode.
ModelFormat getGraphFormat();

} // namespace mlir::par

#endif // PAR_LIB_SOURCE_BUILTINSOURCES_H

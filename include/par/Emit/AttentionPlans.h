//===- AttentionPlans.h - cuDNN's plans in a package ----------------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_ATTENTIONPLANS_H
#define PAR_EMIT_ATTENTIONPLANS_H

#include "par/Emit/Package.h"

namespace mlir::par {

/// Writes program<i>.cudnn.json beside each program of a manifest that has its lists (addDeviceLists): plans
/// of the cuDNN of this machine for the manifest's chip. Error as `planAttentionForPackage`.
llvm::Error addAttentionPlans(const llvm::json::Object &manifest, PackageWriter &package);

} // namespace mlir::par

#endif // PAR_EMIT_ATTENTIONPLANS_H

//===- AttentionModel.h - how long devices take for attention ---------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COST_ATTENTIONMODEL_H
#define PAR_LIB_COST_ATTENTIONMODEL_H

#include "par/Cost/LibraryModel.h"

namespace mlir::par {

/// The model of par.attention and par.attention_backward.
DeviceTime modelAttention(rank::LibraryWorkInterface work);

} // namespace mlir::par

#endif // PAR_LIB_COST_ATTENTIONMODEL_H

/// Attention on bf16 by the processor's units, operands where they are and results rounded once.
#ifndef PAR_CPU_ATTENTIONUNITS_H
#define PAR_CPU_ATTENTIONUNITS_H

#include "par/runtime.h"

namespace par::cpu {

/// As par_attention_forward_bf16 and par_attention_backward_bf16, where units are in use (cpu/Units.h).
/// Probabilities and gradients of scores are rounded to bf16 before they are multiplied again. The backward
/// pass sums up gradients of keys and values in the workspace, for as many rows of the batch at once as it
/// has room.
void attendByUnits(void *context, const par_attention &what, void *const *buffers);
void attendBackwardByUnits(void *context, const par_attention &what, void *const *buffers, float *workspace,
                           int64_t bytes);

} // namespace par::cpu
#endif

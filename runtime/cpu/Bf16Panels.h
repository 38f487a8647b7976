/// Products of panels of paired bf16 numbers (cpu/PairedBlocks.h) that lie in the first caches, for
/// attention.
#ifndef PAR_CPU_BF16PANELS_H
#define PAR_CPU_BF16PANELS_H

#include "cpu/PanelProduct.h"
#include "cpu/Units.h"

namespace par::cpu {

/// Rows of words; `stride` words between two. Of A a row is a row of A; of B it is a pair of terms.
struct PairRows {
  const float *words;
  int64_t stride;
};

/// What rows, columns and pairs of terms of panels are filled up to.
constexpr int64_t panelRows = 16, panelColumns = 32, panelWords = 16;

struct PanelKernels {
  /// C[rows, columns] = (add ? C : 0) + A B over `words` pairs of terms.
  void (*multiply)(int64_t rows, int64_t columns, int64_t words, PairRows a, PairRows b, bool add, Rows c);
  /// Round what a thread does.
  void (*enter)();
  void (*leave)();
};

/// Those of the units in use, which are not `none`.
const PanelKernels &panelKernels();
const PanelKernels &dotPanels();
const PanelKernels &tilePanels();

} // namespace par::cpu
#endif

/// What is known of a step and of an evaluation once they are done.
#ifndef PAR_CORE_REPORTS_H
#define PAR_CORE_REPORTS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace par::rt {

struct StepReport {
  int64_t step = 0;
  bool isEmulated = false; ///< nothing was computed: there is no loss
  float loss = 0, gradNorm = 0;
  std::vector<std::pair<std::string, float>> losses; ///< further ones by name, not weighted
  double lr = 0, seconds = 0;
  double mfu = 0; ///< share of the GPUs' peak that the model's own operations have; 0: no peak is known
  const char *unit = "tokens";               ///< or "rows", of a program that reads no tokens
  int64_t tokens = 0;                        ///< of this step, or rows
  int64_t tokensSeen = 0;                    ///< of all steps up to it, those before a resume included
  int64_t peakBytes = 0, hostPeakBytes = 0;  ///< the latter 0 without an arena in host memory
  std::map<std::string, uint64_t> sentBytes; ///< by "kind:axis+axis"
  // Of the first step that a run takes; nothing in the lines of others. A line of 16,384 ranks would be 100
  // kB.
  std::string dataHash;
  std::vector<int64_t> pids; ///< one per rank
  // Of the last step that a run takes: peakBytes and hostPeakBytes of every rank.
  std::vector<int64_t> peaks, hostPeaks;
  /// Of the same step where ranks have different programs: of the rank that sends most of a kind.
  std::map<std::string, uint64_t> mostSentBytes;
};

struct EvaluationReport {
  int64_t step = 0;   ///< the parameters are those after it
  double loss = 0;    ///< sum of cross-entropies / tokens
  int64_t tokens = 0; ///< targets that count

  double perplexity() const; ///< exp(loss)
};

} // namespace par::rt
#endif

/// What ranks that are processes must have alike, or train something that nobody asked for.
#ifndef PAR_CORE_AGREEMENT_H
#define PAR_CORE_AGREEMENT_H

#include "core/Loading.h"

namespace par::rt {

/// A flag of par-run, and what ranks do about it. Every flag has its entry.
struct RankOption {
  const char *flag;
  /// The value that all ranks must have alike, as text for people; null: each may have its own, because only
  /// one rank uses it or nothing that is computed, sent or waited for depends on it.
  std::string (*value)(const RunOptions &options, const Loaded &loaded);
  const char *remedy = "give every process the same flags";
};
const std::vector<RankOption> &rankOptions();

/// The values of all that must agree, in the list's order.
std::vector<std::string> agreedValues(const RunOptions &options, const Loaded &loaded);

/// "--lr: rank 1 on b has 0.1, rank 0 on a has 0.2; …" for the first that differs, or nothing.
std::string disagreement(const std::vector<std::string> &first, const std::vector<std::string> &second,
                         const std::string &firstRank, const std::string &secondRank);

} // namespace par::rt
#endif

/// The next token from a row of logits.
#ifndef PAR_GENERATE_SAMPLER_H
#define PAR_GENERATE_SAMPLER_H

#include <cstdint>
#include <vector>

namespace par::generating {

struct SamplerOptions {
  double temperature = 0; ///< 0: the largest logit, of equals the first
  int64_t topK = 0;       ///< only the k largest logits; 0 = all
  double topP = 1;        ///< only the likeliest tokens that have this probability together; 1 = all
  uint64_t seed = 0;
};

/// Token `position` of the sequence. Depends on nothing but its arguments. -1 when a logit is NaN.
int32_t sampleToken(const SamplerOptions &options, const std::vector<float> &logits, int64_t position);

} // namespace par::generating
#endif

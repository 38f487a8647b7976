#include "generate/Sampler.h"

#include "par/io/Philox.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace par::generating {

/// In [0, 1).
static double uniform(uint64_t seed, int64_t position) {
  uint64_t key = io::splitmix64(seed ^ io::fnv1a64("generate"));
  io::PhiloxWords words = io::philox(uint32_t(position), uint32_t(uint64_t(position) >> 32), 0, 2,
                                     uint32_t(key), uint32_t(key >> 32));
  return double(words.word[0]) * 0x1p-32;
}

/// The tokens that may follow, the likeliest first where some are left out.
static std::vector<int32_t> candidates(const SamplerOptions &options, const std::vector<float> &logits) {
  std::vector<int32_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  if ((options.topK == 0 || options.topK >= int64_t(tokens.size())) && options.topP >= 1)
    return tokens;
  auto likelier = [&](int32_t a, int32_t b) {
    return logits[size_t(a)] != logits[size_t(b)] ? logits[size_t(a)] > logits[size_t(b)] : a < b;
  };
  size_t count = options.topK ? std::min(size_t(options.topK), tokens.size()) : tokens.size();
  std::partial_sort(tokens.begin(), tokens.begin() + int64_t(count), tokens.end(), likelier);
  tokens.resize(count);
  return tokens;
}

int32_t sampleToken(const SamplerOptions &options, const std::vector<float> &logits, int64_t position) {
  if (logits.empty() ||
      std::any_of(logits.begin(), logits.end(), [](float logit) { return std::isnan(logit); }))
    return -1;
  auto largest = std::max_element(logits.begin(), logits.end());
  if (options.temperature == 0)
    return int32_t(largest - logits.begin());
  std::vector<int32_t> tokens = candidates(options, logits);
  std::vector<double> sums;
  double sum = 0;
  for (int32_t token : tokens)
    sums.push_back(sum += std::exp((double(logits[size_t(token)]) - double(*largest)) / options.temperature));
  if (options.topP < 1) { // the first ones whose sum reaches it: one at least
    auto last = std::lower_bound(sums.begin(), sums.end(), options.topP * sum);
    sums.resize(std::min(size_t(last - sums.begin()) + 1, sums.size()));
    sum = sums.back();
  }
  double wanted = uniform(options.seed, position) * sum;
  size_t chosen = size_t(std::upper_bound(sums.begin(), sums.end(), wanted) - sums.begin());
  return tokens[std::min(chosen, sums.size() - 1)];
}

} // namespace par::generating

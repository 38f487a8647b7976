#include "core/ProductWays.h"

#include "core/Error.h"
#include "core/Topology.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace par::rt {

ProductWays::ProductWays(const Manifest &manifest, int rank) : program(manifest.programOf(rank)), rank(rank) {
  for (size_t number = 0; number < manifest.programs.size(); ++number)
    for (const cuda::ProductWork &product : manifest.programs[number].device.products) {
      int first = firstRankOf(manifest, number);
      auto [teller, isNew] = tellers.emplace(product.key(), first);
      teller->second = std::min(teller->second, first);
    }
  for (const auto &teller : tellers)
    products.push_back(teller.first);
}

std::vector<int64_t> ProductWays::tell(device::Accelerator &accelerator, const device::TuningRoom &room) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<int64_t> told(products.size(), -1);
  std::vector<int> ways;
  if (std::none_of(products.begin(), products.end(), [&](const std::string &one) { return isOwn(one); }))
    return told;
  std::string machine;
  check(accelerator.describeMachine(machine));
  WayCache cache(machine);
  Ways known = cache.read();
  for (const cuda::ProductWork &product : program.device.products) {
    auto kept = known.find(product.key());
    ways.push_back(kept != known.end() ? kept->second : isOwn(product.key()) ? -1 : 0);
  }
  std::vector<int> before = ways;
  measures = std::count(ways.begin(), ways.end(), -1) > 0;
  if (measures)
    check(accelerator.tune(room, ways));
  for (size_t i = 0; i < ways.size(); ++i) {
    std::string product = program.device.products[i].key();
    if (before[i] < 0 && ways[i] >= 0)
      found[product] = ways[i];
    if (isOwn(product))
      told[size_t(std::lower_bound(products.begin(), products.end(), product) - products.begin())] = ways[i];
  }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (!found.empty())
    keep(cache, size_t(std::count_if(before.begin(), before.end(), [](int way) { return way >= 0; })),
         seconds.count());
  return told;
}

/// What cannot be kept is still good for this run.
void ProductWays::keep(const WayCache &cache, size_t known, double seconds) {
  io::Status status = cache.add(found);
  char time[32];
  std::snprintf(time, sizeof(time), "%.1f s", seconds);
  line = "products: " + std::to_string(found.size()) + " measured in " + time +
         (known ? ", " + std::to_string(known) + " known before" : "") + "; " +
         (status.ok() ? "kept in " + cache.path() : "not kept: " + status.message()) + "\n";
}

void ProductWays::take(device::Accelerator &accelerator, const std::vector<int64_t> &all) const {
  std::vector<int> ways;
  for (const cuda::ProductWork &product : program.device.products) {
    auto place = std::lower_bound(products.begin(), products.end(), product.key()) - products.begin();
    ways.push_back(int(std::max<int64_t>(all[size_t(place)], 0)));
  }
  accelerator.chooseWays(ways);
}

} // namespace par::rt

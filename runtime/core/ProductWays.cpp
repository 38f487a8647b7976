#include "core/ProductWays.h"

#include "core/Error.h"
#include "core/Topology.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

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

size_t ProductWays::placeOf(const cuda::ProductWork &product) const {
  return size_t(std::lower_bound(products.begin(), products.end(), product.key()) - products.begin());
}

/// FNV-1a, and never 0.
static int64_t hashOf(const std::string &text) {
  uint64_t hash = 14695981039346656037u;
  for (char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return hash ? int64_t(hash) : 1;
}

int64_t ProductWays::hashMachine(device::Accelerator &accelerator) {
  if (program.device.products.empty())
    return 0;
  check(accelerator.describeMachine(machine));
  return hashOf(machine);
}

bool ProductWays::areAlike(const std::vector<int64_t> &hashes) {
  std::vector<size_t> others;
  for (size_t other = 0; other < hashes.size(); ++other)
    if (hashes[other] && hashes[0] && hashes[other] != hashes[0])
      others.push_back(other);
  if (others.empty())
    return true;
  lines += "products: rank " + std::to_string(others[0]) +
           (others.size() > 1 ? " and " + std::to_string(others.size() - 1) + " more have" : " has") +
           " another GPU, driver or cuBLASLt than rank 0, which has " + machine +
           ": nothing is measured, and every rank computes in its library's first way\n";
  return false;
}

io::Status ProductWays::tell(device::Accelerator &accelerator, const device::TuningRoom &room,
                             std::vector<int64_t> &told) {
  told.assign(products.size(), -1);
  told.resize(2 * products.size(), 0);
  std::vector<int> ways;
  PAR_TRY(accelerator.findFirstWays(room.begin, ways));
  for (size_t i = 0; i < ways.size(); ++i)
    if (cuda::isSeparate(ways[i]))
      told[products.size() + placeOf(program.device.products[i])] = 1;
  if (room.seconds <= 0 ||
      std::none_of(products.begin(), products.end(), [&](const std::string &one) { return isOwn(one); }))
    return {};
  PAR_TRY(measure(accelerator, room, ways));
  for (size_t i = 0; i < ways.size(); ++i)
    if (isOwn(program.device.products[i].key()))
      told[placeOf(program.device.products[i])] = ways[i];
  return {};
}

/// -1 where nothing is known of a product that this rank tells; 0 where another one does.
io::Status ProductWays::measure(device::Accelerator &accelerator, const device::TuningRoom &room,
                                std::vector<int> &ways) {
  auto begin = std::chrono::steady_clock::now();
  WayCache cache(machine);
  Ways known = cache.read();
  ways.clear();
  for (const cuda::ProductWork &product : program.device.products) {
    auto kept = known.find(product.key());
    ways.push_back(kept != known.end() ? kept->second : isOwn(product.key()) ? -1 : 0);
  }
  std::vector<int> before = ways;
  measures = std::count(ways.begin(), ways.end(), -1) > 0;
  if (measures)
    PAR_TRY(accelerator.tune(room, ways));
  for (size_t i = 0; i < ways.size(); ++i)
    if (before[i] < 0 && ways[i] >= 0)
      found[program.device.products[i].key()] = ways[i];
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (!found.empty())
    keep(cache, size_t(std::count_if(before.begin(), before.end(), [](int way) { return way >= 0; })),
         seconds.count());
  return {};
}

/// What cannot be kept is still good for this run.
void ProductWays::keep(const WayCache &cache, size_t known, double seconds) {
  io::Status status = cache.add(found);
  char time[32];
  std::snprintf(time, sizeof(time), "%.1f s", seconds);
  auto separate =
      std::count_if(found.begin(), found.end(), [](const auto &one) { return cuda::isSeparate(one.second); });
  lines += "products: " + std::to_string(found.size()) + " measured in " + time +
           (known ? ", " + std::to_string(known) + " known before" : "") +
           (separate ? ", " + std::to_string(separate) + " quicker with kernels for their epilogues" : "") +
           "; " + (status.ok() ? "kept in " + cache.path() : "not kept: " + status.message()) + "\n";
}

void ProductWays::take(device::Accelerator &accelerator, const std::vector<int64_t> &all) {
  std::vector<int> ways;
  for (const cuda::ProductWork &product : program.device.products) {
    int way = int(std::max<int64_t>(all[placeOf(product)], 0));
    bool isLeft = all[products.size() + placeOf(product)];
    ways.push_back(isLeft && !cuda::isSeparate(way) ? cuda::firstSeparate : way);
  }
  accelerator.chooseWays(ways);
  noteSeparate(all);
}

void ProductWays::noteSeparate(const std::vector<int64_t> &all) {
  std::set<std::string> epilogues;
  size_t count = 0;
  for (const cuda::ProductWork &product : program.device.products)
    if (all[products.size() + placeOf(product)]) {
      epilogues.insert(cuda::epilogueNames[size_t(product.epilogue)]);
      ++count;
    }
  std::string names;
  for (const std::string &name : epilogues)
    names += (names.empty() ? "" : ", ") + name;
  if (count)
    lines += "products: cuBLASLt has no algorithm with the epilogue of " + std::to_string(count) + " (" +
             names + "): kernels compute it\n";
}

} // namespace par::rt

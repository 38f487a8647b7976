// A row of logits comes to rank 0 from wherever it is: from its own stage, or from another one.
#include "generate/LogitsRow.h"
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "comm/local/LocalTransport.h"
#include "core/Topology.h"
#include "cpu/CpuDevice.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

using namespace par;
using namespace par::test;
using nlohmann::json;

namespace {

/// Of the row's shape [rows, seq, vocab], with the vocabulary over tp; the program `at` has it.
rt::Manifest manifestOf(json manifest, int at) {
  int tp = manifest["mesh"][1][1], local = (TINY_VOCAB + tp - 1) / tp;
  for (json &program : manifest["programs"])
    program["schedules"].push_back(
        {{"name", "logits"}, {"function", "par_schedule_idle"}, {"arena_bytes", TINY_ARENA}});
  manifest["programs"][size_t(at)]["outputs"].push_back(
      {{"name", "logits"},
       {"dtype", "f32"},
       {"shape", {1, TINY_SEQ, TINY_VOCAB}},
       {"local_shape", {1, TINY_SEQ, local}},
       {"sharding", json::array({json::array(), json::array(), json::array({"tp"})})},
       {"offsets", {0}}});
  return rt::parseManifest("manifest.json", manifest.dump());
}

float logit(int64_t position, int64_t token) { return float(100 * position + token); }

/// What a rank has of the logits; ranks of other programs have something else there.
std::vector<float> arenaOf(const rt::Manifest &manifest, int rank) {
  std::vector<float> arena(TINY_ARENA / 4, -1.0f);
  const rt::Output *output = manifest.programOf(rank).findOutput("logits");
  if (!output)
    return arena;
  rt::Shape begin =
      rt::shardBegin(manifest.axes, rt::coordinatesOf(manifest.axes, rank), output->sharding, output->local);
  for (int64_t position = 0; position < output->local[1]; ++position)
    for (int64_t token = 0; token < output->local[2]; ++token)
      arena[size_t(position * output->local[2] + token)] = logit(position, begin[2] + token);
  return arena;
}

/// What rank 0 gets for a position; others are to get nothing.
std::vector<float> readRow(const rt::Manifest &manifest, int64_t position) {
  comm::LocalWorld world(manifest.worldSize);
  std::vector<std::vector<float>> rows(size_t(manifest.worldSize), {7.0f});
  std::vector<std::thread> threads;
  for (int rank = 0; rank < manifest.worldSize; ++rank)
    threads.emplace_back([&, rank] {
      std::vector<float> arena = arenaOf(manifest, rank);
      std::unique_ptr<comm::Transport> transport = world.connect(rank);
      cpu::CpuDevice device({});
      generating::LogitsRow row(manifest, *transport, rank);
      row.read({&device, device.fromProgram(arena.data()), {}}, position, rows[size_t(rank)]);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int rank = 1; rank < manifest.worldSize; ++rank)
    EXPECT_TRUE(rows[size_t(rank)].empty()) << "rank " << rank;
  return rows[0];
}

} // namespace

TEST(LogitsRow, OfAnyStage) {
  for (int tp : {1, 2, 3}) // over 3, the last shard is padded
    for (int stages : {1, 2, 3})
      for (int at = 0; at < stages; ++at) {
        rt::Manifest manifest = manifestOf(tinyStages(2, tp, stages), at);
        for (int64_t position : {0, TINY_SEQ - 1}) {
          std::vector<float> expected;
          for (int64_t token = 0; token < TINY_VOCAB; ++token)
            expected.push_back(logit(position, token));
          EXPECT_EQ(readRow(manifest, position), expected)
              << "tp=" << tp << ", stage " << at << " of " << stages;
        }
      }
}

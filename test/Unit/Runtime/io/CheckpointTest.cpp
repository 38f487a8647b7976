// What every rank writes and reads: any mesh to any mesh, parameters, masters and moments, with padding and
// transposed files.
#include "core/Checkpoint.h"
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "comm/local/LocalTransport.h"
#include "core/Topology.h"
#include "cpu/CpuDevice.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

using namespace par;
using namespace par::rt;
using namespace par::test;
using nlohmann::json;

namespace {

constexpr int arenaBytes = 4096;

/// The tiny model with a moment, and a master if wanted, of its [10, 3] parameter, and a moment of another
/// shape.
json textOf(int dp, int tp, bool master) {
  json text = tinyManifest(dp, tp);
  json &variables = text["programs"][0]["variables"];
  auto add = [&](const char *name, const char *role, int offset) {
    json copy = variables[1]; // the gradient: [10, 3] over tp
    copy["name"] = name, copy["role"] = role, copy["offset"] = offset;
    variables.push_back(copy);
  };
  add("w.m", "moment", 1024);
  if (master)
    add("w.master", "master", 1280);
  json flat = variables[1];
  flat["name"] = "w.norms", flat["role"] = "moment", flat["offset"] = 1536;
  flat["shape"] = {TINY_VOCAB}, flat["local_shape"] = {(TINY_VOCAB + dp - 1) / dp};
  flat["sharding"] = json::array({json::array({"dp"})});
  variables.push_back(flat);
  text["programs"][0]["arena_bytes"] = arenaBytes;
  return text;
}

Manifest manifestOf(int dp, int tp, bool master) {
  return parseManifest("manifest.json", textOf(dp, tp, master).dump());
}

/// The same model in stages, all of it in the last one. `tied`: in the first one, too, which owns it then;
/// the others' variables lie elsewhere.
Manifest stagesOf(int dp, int tp, bool master, int stages, bool tied) {
  json text = textOf(dp, tp, master), whole = text["programs"][0];
  text["mesh"].push_back(json::array({"pp", stages}));
  text["axes"].push_back({{"name", "pp"}, {"size", stages}, {"of", "pp"}});
  text["world_size"] = dp * tp * stages;
  text["programs"] = json::array();
  for (int stage = 0; stage < stages; ++stage) {
    json program = whole;
    program["ranks"] = {{"pp", json::array({stage})}};
    bool isLast = stage == stages - 1;
    if (!isLast && !(tied && stage == 0))
      program["variables"] = json::array();
    for (json &variable : program["variables"])
      variable["offset"] = variable["offset"].get<int>() + (isLast ? arenaBytes / 2 : 0);
    text["programs"].push_back(program);
  }
  return parseManifest("manifest.json", text.dump());
}

/// Logical element (row, column) of a variable; no two are equal, and some are what arithmetic would not
/// keep.
float element(const std::string &variable, int64_t row, int64_t column) {
  if (row == 1 && column == 1)
    return -0.0f;
  float base = variable == "w" ? 0.0f : variable == "w.m" ? 100.0f : variable == "w.master" ? 200.0f : 300.0f;
  return base + float(row) + float(column) / 8;
}

/// Visits the elements of a rank's shard: place in the arena, row, column, whether it is padding.
template <typename Visit>
void forShard(const Manifest &manifest, const Variable &variable, int rank, Visit visit) {
  int64_t position = positionOn(manifest.axes, coordinatesOf(manifest.axes, rank), variable.sharding.front());
  int64_t columns = variable.shape.size() == 2 ? variable.local[1] : 1;
  for (int64_t r = 0; r < variable.local[0]; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      int64_t row = position * variable.local[0] + r;
      visit(variable.offset + 4 * (r * columns + c), row, c, row >= variable.shape[0]);
    }
}

bool isState(const Variable &variable) { return variable.role != Role::gradient; }

void saveAll(const Manifest &manifest, const std::string &folder, int64_t step, int64_t keep = 0) {
  RunOptions options;
  options.checkpoint = folder, options.seed = 5, options.keep = keep;
  Start start{2, 100, {}};
  FolderLock lock(folder);
  Checkpointer checkpointer(manifest, options, start);
  checkpointer.prepare(&lock);
  comm::LocalWorld world(manifest.worldSize);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < manifest.worldSize; ++rank)
    threads.emplace_back([&, rank] {
      std::vector<char> arena(arenaBytes, char(0xFF));
      for (const Variable &variable : manifest.programOf(rank).variables)
        if (isState(variable))
          forShard(manifest, variable, rank, [&](int64_t at, int64_t row, int64_t column, bool padding) {
            float value = padding ? 0.0f : element(variable.name, row, column);
            std::memcpy(arena.data() + at, &value, 4);
          });
      std::vector<int> all;
      for (int i = 0; i < manifest.worldSize; ++i)
        all.push_back(i);
      std::unique_ptr<comm::Transport> transport = world.connect(rank);
      cpu::CpuDevice device({});
      checkpointer.save(rank, {&device, device.fromProgram(arena.data()), {}}, {step, {}}, *transport,
                        *transport->group(all), [] {});
    });
  for (std::thread &thread : threads)
    thread.join();
}

void expectRestored(const Manifest &manifest, const io::CheckpointReader &reader, bool masterWasSaved) {
  for (int rank = 0; rank < manifest.worldSize; ++rank) {
    std::vector<char> arena(arenaBytes, 0);
    cpu::CpuDevice device({});
    restore(manifest, reader, rank, {&device, device.fromProgram(arena.data()), {}});
    for (const Variable &variable : manifest.programOf(rank).variables)
      if (isState(variable))
        forShard(manifest, variable, rank, [&](int64_t at, int64_t row, int64_t column, bool padding) {
          std::string source = variable.role == Role::moment ? variable.name
                               : masterWasSaved              ? "w.master"
                                                             : "w";
          float want = padding ? 0.0f : element(source, row, column);
          EXPECT_EQ(std::memcmp(arena.data() + at, &want, 4), 0)
              << variable.name << " rank " << rank << " element " << row << ", " << column;
        });
  }
}

} // namespace

TEST(Checkpoint, AnyMeshToAnyMesh) {
  const std::pair<int, int> meshes[] = {{1, 1}, {2, 1}, {1, 3}, {1, 4}, {2, 2}, {4, 2}, {3, 1}};
  for (auto [dp, tp] : meshes)
    for (bool master : {false, true}) {
      TemporaryFolder folder;
      saveAll(manifestOf(dp, tp, master), folder.root(), 7);
      EXPECT_EQ(folder.files(), std::vector<std::string>{"step-00000007"});
      io::CheckpointReader reader;
      io::Status status = reader.open(io::findCheckpoint(folder.root()));
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(reader.info().windows, 100 + 5 * TINY_BATCH);
      EXPECT_EQ(reader.info().seed, 5u);
      for (auto [dp2, tp2] : meshes)
        for (bool master2 : {false, true})
          expectRestored(manifestOf(dp2, tp2, master2), reader, master);
    }
}

/// Whatever the stages are, and from stages to one program and back.
TEST(Checkpoint, AnyStagesToAnyMesh) {
  std::vector<Manifest> all = {manifestOf(2, 2, true), manifestOf(1, 3, false)};
  for (bool tied : {false, true}) {
    all.push_back(stagesOf(1, 1, true, 2, tied));
    all.push_back(stagesOf(2, 3, false, 2, tied));
    all.push_back(stagesOf(3, 2, true, 3, tied));
  }
  auto hasMaster = [](const Manifest &manifest) {
    return std::any_of(manifest.variables.begin(), manifest.variables.end(),
                       [](const Variable &variable) { return variable.role == Role::master; });
  };
  for (const Manifest &from : all) {
    TemporaryFolder folder;
    saveAll(from, folder.root(), 7);
    io::CheckpointReader reader;
    io::Status status = reader.open(io::findCheckpoint(folder.root()));
    ASSERT_TRUE(status.ok()) << status.message();
    for (const Manifest &to : all)
      expectRestored(to, reader, hasMaster(from));
  }
}

TEST(Checkpoint, ReplicasAreWrittenOnce) {
  for (const Manifest &manifest : {manifestOf(4, 2, true), stagesOf(2, 2, true, 3, /*tied=*/true)}) {
    TemporaryFolder folder;
    saveAll(manifest, folder.root(), 1);
    int64_t elements = 0;
    for (const auto &entry : std::filesystem::directory_iterator(folder / "step-00000001")) {
      if (entry.path().extension() != ".safetensors")
        continue;
      for (const auto &[name, values] : tensorsOf(entry.path().string()))
        elements += int64_t(values.size());
    }
    EXPECT_EQ(elements, 30 + 30 + 10); // the master in the parameter's place, two moments
  }
}

TEST(Checkpoint, AWholeTensorLiesAsInHuggingFacesFiles) {
  TemporaryFolder folder;
  saveAll(manifestOf(1, 1, false), folder.root(), 1);
  auto tensors = tensorsOf(folder / "step-00000001/model-00001-of-00001.safetensors");
  ASSERT_EQ(tensors.size(), 1u);
  const std::vector<float> &values = tensors["transformer.wte.weight"]; // [3, 10], the transposed parameter
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t column = 0; column < TINY_VOCAB; ++column)
      EXPECT_EQ(values[size_t(row * TINY_VOCAB + column)], element("w", column, row));
  EXPECT_EQ(tensorsOf(folder / "step-00000001/optimizer-00001-of-00001.safetensors")
                .count("transformer.wte.weight.m"),
            1u);
}

TEST(Checkpoint, KeepsTheNewest) {
  TemporaryFolder folder;
  Manifest manifest = manifestOf(2, 1, false);
  for (int64_t step : {3, 4, 5, 6})
    saveAll(manifest, folder.root(), step, 2);
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"step-00000005", "step-00000006"}));
}

TEST(Checkpoint, WhatIsNotOursStays) {
  TemporaryFolder folder;
  for (const char *name : {"step-00000002.tmp", "step-00000003.0123456789abcdef.tmp", "step-00000009"}) {
    std::filesystem::create_directories(folder / name);
    writeText(folder / name + "/thesis", "precious");
  }
  Manifest manifest = manifestOf(2, 1, false);
  saveAll(manifest, folder.root(), 3, 1);
  saveAll(manifest, folder.root(), 4, 1);
  EXPECT_EQ(folder.files(),
            (std::vector<std::string>{"step-00000002.tmp", "step-00000003.0123456789abcdef.tmp",
                                      "step-00000004", "step-00000009"}));
  EXPECT_EQ(readText(folder / "step-00000009/thesis"), "precious");
}

namespace {
/// A block of 5 rows of 3 elements in parts of 16 bytes, as one file of a checkpoint.
struct SmallParts {
  SmallParts() {
    info.ranks = 1, info.sequence = 1, info.partBytes = 16;
    info.model["model_type"] = "\"tiny\"";
    io::CheckpointTensor tensor;
    tensor.shape = tensor.block = tensor.fileShape = {5, 3}, tensor.ranks = {0};
    io::BlockHash hash(16);
    for (size_t i = 0; i < values.size(); i += 5) // in pieces that are no parts
      hash.update(values.data() + i, 5 * sizeof(float));
    tensor.hashes = {hash.finish()};
    info.tensors["t"] = tensor;
    io::SafetensorsWriter file;
    EXPECT_TRUE(file.create(path(), {{"t", {5, 3}}}).ok());
    EXPECT_TRUE(file.append(values.data(), 15).ok() && file.commit().ok());
    info.files["model-00001-of-00001.safetensors"] = io::fileSize(path());
    writeText(folder / "checkpoint.json", io::toJson(info));
  }
  std::string path() const { return folder / "model-00001-of-00001.safetensors"; }
  io::Status read(const io::CheckpointBlock &wanted) {
    io::CheckpointReader reader;
    PAR_TRY(reader.open(folder.root()));
    return reader.read("t", wanted, [](const io::Shape &, int64_t, const float *) {});
  }

  TemporaryFolder folder;
  io::CheckpointInfo info;
  std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
};
} // namespace

TEST(Checkpoint, WhatIsReadIsCheckedPartByPart) {
  SmallParts small;
  ASSERT_EQ(small.info.tensors["t"].hashes[0].size(), 4u); // 60 bytes
  EXPECT_TRUE(small.read({{0, 0}, {5, 3}}).ok());
  std::string good = readText(small.path()), bad = good;
  bad[bad.size() - 8] ^= 1; // element 13, in the last part
  writeText(small.path(), bad);
  EXPECT_TRUE(small.read({{0, 0}, {4, 3}}).ok()); // elements 0 to 11 end with the third part
  io::Status status = small.read({{4, 1}, {1, 1}});
  EXPECT_NE(status.message().find("tensor \"t\" is not what was saved: bytes 48 to 60 have another SHA-256"),
            std::string::npos)
      << status.message();
  bad = good;
  bad[bad.size() - 60 + 17] ^= 1; // element 4 is in the second part, its row begins in the first
  writeText(small.path(), bad);
  EXPECT_FALSE(small.read({{1, 0}, {1, 3}}).ok());
  bad = good;
  std::fill(bad.end() - 60, bad.end(), '\0');
  writeText(small.path(), bad);
  EXPECT_FALSE(small.read({{0, 0}, {1, 1}}).ok());
}

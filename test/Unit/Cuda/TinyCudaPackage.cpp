#include "TinyCudaPackage.h"

#include "TinyProgram.h"
#include "par/io/Sha256.h"

#include <gtest/gtest.h>

namespace par::test {

using nlohmann::json;

static json buffer(int bytes, const char *access) {
  return {{"bytes", bytes}, {"access", access}, {"space", "device"}};
}

static json kernel(const char *name, bool coords, std::vector<json> buffers) {
  return {{"name", name},      {"plan", "generic"}, {"grid", {1, 1, 1}}, {"block", {1, 1, 1}},
          {"shared_bytes", 0}, {"coords", coords},  {"buffers", buffers}};
}

static json kernelsOf(int localRows, int localVocab) {
  int table = 12 * localVocab, scalars = TINY_FACTOR + 4 - TINY_LOSS_SCALE;
  return {kernel("zero", false, {buffer(12 * TINY_VOCAB, "write"), buffer(8, "write")}),
          kernel("forward", true,
                 {buffer(4 * TINY_SEQ * localRows, "read"), buffer(scalars, "read"), buffer(table, "read"),
                  buffer(table, "update"), buffer(8, "update")}),
          kernel("norm", false, {buffer(4, "read"), buffer(table, "read"), buffer(4, "update")}),
          kernel("root", false, {buffer(4, "read"), buffer(4, "write"), buffer(4, "write")}),
          kernel("update", false,
                 {buffer(4, "read"), buffer(4, "read"), buffer(table, "read"), buffer(table, "update")})};
}

json cudaManifest(int dp, int tp, const char *schedule) {
  json manifest =
      tinyManifest(dp, tp, std::string(schedule) == "overlapped" || std::string(schedule) == "early");
  manifest.erase("cpu_features");
  manifest["target"] = "cuda", manifest["chip"] = "sm_90", manifest["ptx"] = "8.0";
  json &program = manifest["programs"][0];
  program["schedules"][0]["function"] = std::string("par_schedule_") + schedule;
  program["kernels"] = kernelsOf(TINY_ROWS / dp, (TINY_VOCAB + tp - 1) / tp);
  program["products"] = program["attentions"] = json::array();
  return manifest;
}

/// The text of a kernel for every entry of the manifest.
static std::string moduleOf(const json &manifest) {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (const json &kernel : manifest["programs"][0]["kernels"]) {
    size_t count = kernel["buffers"].size() + (kernel["coords"].get<bool>() ? 1 : 0);
    text += ".visible .entry " + kernel["name"].get<std::string>() + "(";
    for (size_t i = 0; i < count; ++i)
      text += std::string(i ? ", " : "") + ".param .u64 p" + std::to_string(i);
    text += ") .maxntid 1, 1, 1 { ret; }\n";
  }
  return text;
}

void writeCudaPackage(const std::string &folder, json manifest) {
  std::filesystem::create_directories(folder);
  writeText(folder + "/program0.ptx", moduleOf(manifest));
  writeText(folder + "/program0.emulated.so", readText(PAR_TINY_KERNELS));
  for (const char *name : {"program0.ptx", "program0.emulated.so"})
    manifest["files"][name] = io::sha256(readText(folder + "/" + name));
  writePackage(folder, manifest, PAR_TINY_CUDA_PROGRAM);
}

std::string tinyData() {
  std::string data;
  for (int i = 0; i < 102; ++i)
    data += char((i * i + 3 * i) % TINY_VOCAB);
  return data;
}

std::string nameOf(const CudaMesh &mesh) {
  return "dp" + std::to_string(mesh.dp) + "tp" + std::to_string(mesh.tp) + mesh.schedule;
}

void expectStepsOfTheCpu(const TemporaryFolder &folder, const CudaMesh &mesh,
                         const std::function<void(const std::string &, const std::string &)> &run) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(mesh.dp, mesh.tp, mesh.schedule));
  writePackage(folder / "cpu.par", tinyManifest(mesh.dp, mesh.tp));
  auto save = [&](const std::string &name) {
    return " --save-params " + (folder / (name + ".safetensors")) + " --metrics " +
           (folder / (name + ".jsonl"));
  };
  RunResult cpu =
      parRun((folder / "cpu.par") + " --data " + (folder / "data.txt") + " --steps 4" + save("cpu"));
  ASSERT_EQ(cpu.exitCode, 0) << cpu.output;
  for (std::string seed : {"1", "2", "3"}) {
    run(save("gpu" + seed), "PAR_STANDIN_SEED=" + seed);
    if (testing::Test::HasFatalFailure())
      return;
    EXPECT_EQ(tensorsOf(folder / ("gpu" + seed + ".safetensors")), tensorsOf(folder / "cpu.safetensors"));
    std::vector<json> expected = metricsOf(folder / "cpu.jsonl"),
                      lines = metricsOf(folder / ("gpu" + seed + ".jsonl"));
    ASSERT_EQ(lines.size(), expected.size());
    for (size_t i = 0; i < lines.size(); ++i)
      for (const char *key : {"loss", "grad_norm", "peak_bytes", "sent_bytes"})
        EXPECT_EQ(lines[i][key], expected[i][key]) << key;
  }
}

} // namespace par::test

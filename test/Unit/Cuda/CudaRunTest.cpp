// par-run on packages for GPUs, on the stand-in: whole runs equal those on a CPU, and what goes wrong is
// told.
#include "TinyCudaPackage.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

using namespace par;
using namespace par::test;
using nlohmann::json;

namespace {

class CudaRun : public testing::Test {
protected:
  void SetUp() override { writeText(folder / "data.txt", tinyData()); }

  RunResult run(const std::string &more = "", const std::string &environment = "", int steps = 4) {
    return parRun((folder / "tiny.par") + " --data " + (folder / "data.txt") + " --steps " +
                      std::to_string(steps) + " " + more,
                  "LD_LIBRARY_PATH=" PAR_STANDIN_DIR " PAR_STANDIN_KERNELS=" + (folder / "tiny.par") + " " +
                      environment);
  }
  /// One line, and nothing is trained.
  void expectError(const RunResult &result, const std::string &line) {
    EXPECT_EQ(result.exitCode, 1) << result.output;
    EXPECT_NE(("\n" + result.output).find("\nerror: " + line), std::string::npos) << result.output;
    EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
  }
  std::string manifestPath() { return (folder / "tiny.par") + "/manifest.json"; }

  /// Every step of every rank has the same events, and its actions follow each other, and those of the step
  /// before.
  static void expectStepsOneAfterTheOther(const json &trace, int ranks, int steps) {
    std::map<std::pair<int, int>, std::vector<std::string>> names; // by rank and step
    std::vector<double> end(size_t(ranks), 0);
    for (const json &event : trace["traceEvents"]) {
      if (event["ph"] != "X")
        continue;
      int rank = event["pid"], step = event["args"]["step"];
      names[{rank, step}].push_back(event["name"]);
      double begin = event["ts"], length = event["dur"];
      EXPECT_GE(length, 0) << event;
      if (event["tid"] != 0)
        continue;                                       // a collective beside them
      EXPECT_GE(begin, end[size_t(rank)] - 1) << event; // microseconds
      end[size_t(rank)] = begin + length;
    }
    ASSERT_EQ(names.size(), size_t(ranks * steps));
    for (const auto &[where, list] : names) {
      EXPECT_EQ(list, (names[{where.first, 1}])) << "step " << where.second;
      EXPECT_GE(list.size(), 4u);
    }
  }

  TemporaryFolder folder;
};

class CudaMeshes : public CudaRun, public testing::WithParamInterface<CudaMesh> {};

/// The same bits as on a CPU, whatever the order of execution.
TEST_P(CudaMeshes, EqualTheCpu) {
  expectStepsOfTheCpu(folder, GetParam(), [&](const std::string &flags, const std::string &environment) {
    RunResult gpu = run(flags, environment);
    ASSERT_EQ(gpu.exitCode, 0) << gpu.output;
    EXPECT_NE(gpu.output.find("transport local: target cuda on GPU 0 (stand-in) and no launcher"),
              std::string::npos)
        << gpu.output;
  });
}

INSTANTIATE_TEST_SUITE_P(Runtime, CudaMeshes,
                         testing::Values(CudaMesh{1, 1, "train"}, CudaMesh{2, 1, "train"},
                                         CudaMesh{1, 2, "train"}, CudaMesh{2, 2, "train"},
                                         CudaMesh{1, 3, "train"}, CudaMesh{4, 1, "train"},
                                         CudaMesh{1, 1, "overlapped"}, CudaMesh{2, 2, "overlapped"}),
                         [](const auto &info) { return nameOf(info.param); });

// Ranks that are threads share one GPU, so that its peak counts once.
TEST_F(CudaRun, MfuIsTheShareOfTheMakersPeak) {
  struct {
    const char *name;
    int ranks;
    const char *dtype;
    double peak; ///< 0: not known
  } cases[] = {{"NVIDIA H100 80GB HBM3", 1, "f32", 67e12},
               {"NVIDIA H100 80GB HBM3", 2, "bf16", 989.5e12},
               {"NVIDIA H100 PCIe", 1, "bf16", 756e12},
               {"NVIDIA A100-SXM4-80GB", 1, "bf16", 312e12},
               {"Voodoo 2", 1, "f32", 0}};
  for (const auto &[name, ranks, dtype, peak] : cases) {
    json manifest = cudaManifest(ranks, 1);
    manifest["model_flops_per_step"] = 3e10, manifest["dtype"] = dtype;
    writeCudaPackage(folder / "tiny.par", manifest);
    RunResult result =
        run("--metrics " + (folder / "m.jsonl"), "PAR_STANDIN_NAME='" + std::string(name) + "'", 2);
    ASSERT_EQ(result.exitCode, 0) << result.output;
    for (const json &line : metricsOf(folder / "m.jsonl")) {
      if (peak == 0) {
        EXPECT_TRUE(line["mfu"].is_null()) << line;
        continue;
      }
      double expected = 3e10 / (line["step_seconds"].get<double>() * peak);
      EXPECT_NEAR(line["mfu"].get<double>() / expected, 1, 1e-3) << name << ": " << line;
    }
    std::filesystem::remove_all(folder / "tiny.par");
    std::filesystem::remove(folder / "m.jsonl");
  }
}

TEST_F(CudaRun, AWaitThatIsLeftOutIsFound) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(2, 1, "early"));
  RunResult result = run();
  EXPECT_EQ(result.exitCode, 86) << result.output;
  EXPECT_NE(result.output.find("stand-in: race: "), std::string::npos) << result.output;
}

TEST_F(CudaRun, AnAddressOfTheHostIsFound) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(1, 1, "host_address"));
  RunResult result = run();
  EXPECT_NE(result.exitCode, 0);
  EXPECT_NE(result.output.find("stand-in: zero: buffer 0 is 120 bytes at 0x"), std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("an address of the host that is not pinned"), std::string::npos)
      << result.output;
}

TEST_F(CudaRun, AKernelBeyondItsBufferIsFound) {
  json manifest = cudaManifest(1, 1);
  manifest["programs"][0]["kernels"][4]["buffers"][3]["bytes"] = 116; // update writes 120
  writeCudaPackage(folder / "tiny.par", manifest);
  RunResult result = run();
  EXPECT_EQ(result.exitCode, 86);
  EXPECT_NE(result.output.find("stand-in: update: reads 4 bytes outside its buffers, at device memory "),
            std::string::npos)
      << result.output;
}

TEST_F(CudaRun, AKernelInTheWrongRoleIsFound) {
  json manifest = cudaManifest(1, 1);
  manifest["programs"][0]["kernels"][4]["buffers"][3]["access"] = "read";
  writeCudaPackage(folder / "tiny.par", manifest);
  RunResult result = run();
  EXPECT_EQ(result.exitCode, 86);
  EXPECT_NE(result.output.find("stand-in: update: writes buffer 3, which it may only read (store)"),
            std::string::npos)
      << result.output;
}

TEST_F(CudaRun, AnOutputThatIsNotWrittenWholeIsFound) {
  json manifest = cudaManifest(1, 1);
  manifest["programs"][0]["kernels"][3]["buffers"][2]["bytes"] = 8;
  manifest["programs"][0]["arena_bytes"] = 1024;
  writeCudaPackage(folder / "tiny.par", manifest);
  RunResult result = run();
  EXPECT_EQ(result.exitCode, 86);
  EXPECT_NE(result.output.find("stand-in: root: leaves 4 of 8 bytes of buffer 2 unwritten"),
            std::string::npos)
      << result.output;
}

TEST_F(CudaRun, CheckpointsMoveBetweenTargets) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(2, 1));
  writePackage(folder / "cpu.par", tinyManifest(1, 2));
  ASSERT_EQ(run("--checkpoint " + (folder / "ck")).exitCode, 0);
  RunResult resumed = parRun((folder / "cpu.par") + " --data " + (folder / "data.txt") +
                             " --steps 5 --checkpoint " + (folder / "ck") + " --resume latest");
  EXPECT_EQ(resumed.exitCode, 0) << resumed.output;
  RunResult back = run("--checkpoint " + (folder / "ck") + " --resume latest", "", 6);
  EXPECT_EQ(back.exitCode, 0) << back.output;
}

TEST_F(CudaRun, AMachineWithoutADriverIsTold) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(1, 1));
  RunResult result = parRun((folder / "tiny.par") + " --data " + (folder / "data.txt") + " --steps 1");
  expectError(result, manifestPath() + ": a package for CUDA needs libcuda.so.1: ");
  EXPECT_NE(result.output.find("or compile with --target cpu"), std::string::npos);
}

TEST_F(CudaRun, MachinesThatCannotRunItAreTold) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(1, 1));
  expectError(run("", "PAR_STANDIN_DEVICES=0"), manifestPath() + ": a package for CUDA needs a GPU: ");
  expectError(run("", "PAR_STANDIN_CHIP=80"),
              manifestPath() + ": was compiled for sm_90, but GPU 0 (stand-in) is sm_80");
  expectError(run("", "PAR_STANDIN_DRIVER=11080"),
              manifestPath() + ": has PTX 8.0, but the driver is that of CUDA 11.8");
  expectError(
      run("", "PAR_STANDIN_MEMORY=1000"),
      manifestPath() +
          ": 1 rank needs arenas of 1024 bytes each, and 496 bytes each beside them, on GPU 0 (stand-in), "
          "which has 1000 bytes, all of them free; use a smaller model or batch, or more ranks");
  expectError(run("", "PAR_STANDIN_MEMORY=1000 PAR_STANDIN_HOLDERS=12:70,4711:900"),
              manifestPath() +
                  ": 1 rank needs arenas of 1024 bytes each, and 496 bytes each beside them, on GPU 0 "
                  "(stand-in), of whose 1000 bytes 1000 are "
                  "free: process 4711 holds 900 bytes, process 12 holds 70 bytes, the driver the rest; end ");
}

/// What ranks take beside their arenas is known, and counted, before the first of them starts.
TEST_F(CudaRun, RoomForCollectivesIsCounted) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(2, 1));
  std::string problem = run("", "PAR_STANDIN_MEMORY=2048").output;
  size_t arena = problem.find("2 ranks need arenas of 1024 bytes each, and "), beside = 0;
  ASSERT_NE(arena, std::string::npos) << problem;
  beside =
      std::stoul(problem.substr(arena + std::string("2 ranks need arenas of 1024 bytes each, and ").size()));
  EXPECT_GT(beside, 256u); // coordinates alone
  size_t needed = 2 * (1024 + beside);
  expectError(run("", "PAR_STANDIN_MEMORY=" + std::to_string(needed - 1)),
              manifestPath() + ": 2 ranks need ");
  RunResult result = run("", "PAR_STANDIN_MEMORY=" + std::to_string(needed));
  EXPECT_EQ(result.exitCode, 0) << result.output;
}

TEST_F(CudaRun, WhichAttentionRunsIsSaid) {
  json manifest = cudaManifest(1, 1);
  writeCudaPackage(folder / "tiny.par", manifest);
  const char *line = "\nattention by generated kernels, deterministic\n";
  EXPECT_EQ(run().output.find(line), std::string::npos);
  manifest["programs"][0]["kernels"][1]["plan"] = "attention-forward";
  writeCudaPackage(folder / "tiny.par", manifest);
  RunResult result = run();
  EXPECT_NE(result.output.find(line), std::string::npos) << result.output;
}

TEST_F(CudaRun, WhatIsNotBuiltIsRefused) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(1, 1));
  expectError(run("--emulate-kernels 50,20"),
              "--emulate-kernels knows the time of the host's processor only, but " + manifestPath());
}

/// Of one rank, which launches graphs from the third step on, and of two that share a GPU and do not.
TEST_F(CudaRun, ProfilesAndTracesHaveTheTimesOfTheDevice) {
  for (int ranks : {1, 2}) {
    writeCudaPackage(folder / "tiny.par", cudaManifest(ranks, 1, "overlapped"));
    RunResult result = run("--profile --trace " + (folder / "trace.json"));
    ASSERT_EQ(result.exitCode, 0) << result.output;
    EXPECT_NE(result.output.find("profile of rank 0, the median of 3 steps; this machine: copy "),
              std::string::npos)
        << result.output;
    expectStepsOneAfterTheOther(json::parse(readText(folder / "trace.json")), ranks, 4);
  }
}

TEST_F(CudaRun, ManifestsThatSayNonsenseAreRefused) {
  auto broken = [&](const std::function<void(json &)> &change, const std::string &line) {
    json manifest = cudaManifest(1, 1);
    change(manifest);
    writeCudaPackage(folder / "tiny.par", manifest);
    expectError(run(), manifestPath() + ": " + line);
  };
  broken([](json &m) { m["chip"] = "gfx90"; },
         "chip is \"gfx90\", expected sm_90 or the like; compile the package again");
  broken([](json &m) { m["programs"][0].erase("products"); }, "programs[0]: \"products\" is missing");
  broken([](json &m) { m["programs"][0]["kernels"][0]["block"] = {1024, 2, 1}; },
         "programs[0]: kernels[0]: block: has more than 1024 threads");
  broken([](json &m) { m["programs"][0]["kernels"][0]["grid"] = {1, 1}; },
         "programs[0]: kernels[0]: grid: has 2 numbers, expected 3");
  broken([](json &m) { m["programs"][0]["kernels"][1]["buffers"][0]["access"] = "touch"; },
         "programs[0]: kernels[1]: buffers[0]: access: is \"touch\", expected read, write or update");
  json product = {{"m", 2},
                  {"n", 2},
                  {"k", 4},
                  {"batch", 1},
                  {"transpose_a", false},
                  {"transpose_b", false},
                  {"type", "f32"},
                  {"result", "f32"},
                  {"lda", 3},
                  {"stride_a", 0},
                  {"ldb", 2},
                  {"stride_b", 0},
                  {"ldc", 2},
                  {"stride_c", 0},
                  {"beta", "none"},
                  {"workspace", 0}};
  broken([&](json &m) { m["programs"][0]["products"] = json::array({product}); },
         "programs[0]: products[0]: lda: is 3, below the 4 elements of a row");
  product["lda"] = 4, product["result"] = "bf16";
  broken([&](json &m) { m["programs"][0]["products"] = json::array({product}); },
         "programs[0]: products[0]: result: is bf16, but A and B are f32");
  product["result"] = "f32", product["epilogue"] = "relu";
  broken([&](json &m) { m["programs"][0]["products"] = json::array({product}); },
         "programs[0]: products[0]: epilogue: is \"relu\", expected none, bias, bias_gelu, bias_gelu_aux, "
         "gelu_gradient, sums_a or sums_b");
  product["epilogue"] = "gelu_gradient";
  broken([&](json &m) { m["programs"][0]["products"] = json::array({product}); },
         "programs[0]: products[0]: epilogue: has rows of 2 elements, expected a multiple of 8");
  product["epilogue"] = "bias", product["batch"] = 3;
  broken([&](json &m) { m["programs"][0]["products"] = json::array({product}); },
         "programs[0]: products[0]: epilogue: is of a batch, expected one product");
  product["batch"] = 1, product["workspace"] = -1;
  broken([&](json &m) { m["programs"][0]["products"] = json::array({product}); },
         "programs[0]: products[0]: workspace: is -1, expected ");
  product["workspace"] = 0;
  auto brokenLaunch = [&](int kernel, const std::vector<int> &buffers, const std::string &line) {
    product["separate"] = json::array({{{"kernel", kernel}, {"buffers", buffers}}});
    broken([&](json &m) { m["programs"][0]["products"] = json::array({product}); },
           "programs[0]: products[0]: separate" + line);
  };
  brokenLaunch(5, {3, 4}, "[0]: kernel: is 5, expected an integer from 0 to 4");
  brokenLaunch(0, {3, 16}, "[0]: buffers[1]: is 16, expected an integer from 0 to 15");
  for (int missing : {2, 5})
    brokenLaunch(0, {3, missing}, "[0]: buffers[1]: is a buffer that the product's call does not have");
  brokenLaunch(0, {3}, "[0]: buffers: has 1 numbers, but kernel zero has 2 buffers");
  brokenLaunch(0, {3, 4, 3}, "[0]: buffers: has 3 numbers, but kernel zero has 2 buffers");
  product["epilogue"] = "none";
  brokenLaunch(0, {3, 4}, ": is of an epilogue, but the product has none");
}

TEST_F(CudaRun, AttentionsThatSayNonsenseAreRefused) {
  json rows = {0, 0, 16};
  json attention = {{"name", "attention_0"},
                    {"backward", false},
                    {"causal", true},
                    {"scale", 0.5},
                    {"batch", 1},
                    {"rows", 4},
                    {"kv_heads", 1},
                    {"group", 2},
                    {"head_dim", 8},
                    {"window", 0},
                    {"lse", 1},
                    {"workspace", -1},
                    {"workspace_bytes", 0},
                    {"q", rows},
                    {"k", rows},
                    {"v", rows},
                    {"out", rows},
                    {"buffers", 2},
                    {"launches", json::array()}};
  auto broken = [&](const char *member, const json &value, const std::string &line) {
    json manifest = cudaManifest(1, 1), changed = attention;
    changed[member] = value;
    manifest["programs"][0]["attentions"] = json::array({changed});
    writeCudaPackage(folder / "tiny.par", manifest);
    expectError(run(), manifestPath() + ": programs[0]: attentions[0]: " + line);
  };
  broken("head_dim", 12, "head_dim: is 12, expected a multiple of 8");
  broken("q", {0, 4, 16}, "q: begins at 4 and has rows of 16 elements, expected multiples of 8");
  broken("k", {2, 0, 16}, "k[0]: is 2, expected an integer from 0 to 1");
  broken("q", {0, 16}, "q: has 2 numbers, expected 3");
  broken("workspace", 0, "workspace: is 0, but it has 0 bytes");
  broken("launches", json::array({{{"kernel", 0}, {"buffers", {0}}}}), "launches[0]: buffers: has 1 numbers");
  broken("launches", json::array(), "launches: is empty, expected the kernels that compute it");
}

TEST_F(CudaRun, FilesOfThePackageAreChecked) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(1, 1));
  writeText((folder / "tiny.par") + "/program0.ptx", "changed");
  expectError(run(), (folder / "tiny.par") + "/program0.ptx: was changed after it was compiled");
}

TEST_F(CudaRun, ACallOfWhatIsNotThereIsTold) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(1, 1, "unknown"));
  RunResult result = run();
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_NE(result.output.find("launched kernel 17 of 5; compile the package again"), std::string::npos)
      << result.output;
}

/// A GPU that fails, or hangs, in the middle of a step: the run ends and says where.
TEST_F(CudaRun, AGpuThatFailsIsTold) {
  writeCudaPackage(folder / "tiny.par", cudaManifest(1, 1));
  RunResult result = run("", "PAR_STANDIN_FAULT=launch@9"); // the third kernel of step 2
  EXPECT_EQ(result.exitCode, 1) << result.output;
  EXPECT_NE(result.output.find("rank 0 failed in step 2, action "), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)"), std::string::npos)
      << result.output;
}

/// It is watched from the first thing that it does.
TEST_F(CudaRun, AGpuThatHangsBeforeTheFirstStepIsTold) {
  struct {
    const char *fault, *doing;
  } cases[] = {{"stall@1", "loaded its program"},
               {"stall@3", "prepared its memory"},
               {"stall@6", "prepared its memory"}};
  for (int ranks : {1, 2}) {
    writeCudaPackage(folder / "tiny.par", cudaManifest(ranks, 1));
    for (auto [fault, doing] : cases) {
      if (ranks == 2 && doing[0] == 'l')
        continue; // the first operations are drawn from both ranks'
      RunResult result = run("--timeout 2", std::string("PAR_STANDIN_FAULT=") + fault);
      EXPECT_EQ(result.exitCode, 1) << result.output;
      EXPECT_NE(
          result.output.find("is behind: nothing was heard for 2 s (--timeout) before step 1, while it "),
          std::string::npos)
          << result.output;
      if (ranks == 1)
        EXPECT_NE(result.output.find(std::string("before step 1, while it ") + doing +
                                     "; the run was ended; see what its machine does, or give a longer "
                                     "--timeout\n"),
                  std::string::npos)
            << result.output;
      EXPECT_LT(result.seconds, 30);
    }
  }
}

TEST_F(CudaRun, AGpuThatHangsIsTold) {
  for (const char *schedule : {"train", "overlapped"}) {
    writeCudaPackage(folder / "tiny.par", cudaManifest(2, 1, schedule));
    RunResult result = run("--timeout 2", "PAR_STANDIN_FAULT=stall@200");
    EXPECT_EQ(result.exitCode, 1) << result.output;
    EXPECT_NE(result.output.find("in step "), std::string::npos) << result.output;
    EXPECT_LT(result.seconds, 30);
  }
}

} // namespace

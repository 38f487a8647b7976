// par-run measures ways to compute products at the first start, keeps what it found in the user's cache
// folder, and all ranks take the same.
#include "TinyCudaPackage.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace par;
using namespace par::test;
using nlohmann::json;

namespace {

json product(int size) {
  return {{"m", size},
          {"n", size},
          {"k", size},
          {"batch", 1},
          {"transpose_a", false},
          {"transpose_b", false},
          {"type", "f32"},
          {"result", "f32"},
          {"lda", size},
          {"stride_a", 0},
          {"ldb", size},
          {"stride_b", 0},
          {"ldc", size},
          {"stride_c", 0},
          {"beta", "none"},
          {"workspace", 256}};
}

class ProductTuningRun : public testing::Test {
protected:
  void SetUp() override { writeText(folder / "data.txt", tinyData()); }
  void write(int ranks = 1) {
    json manifest = cudaManifest(ranks, 1);
    manifest["programs"][0]["products"] = {product(2), product(4)};
    writeCudaPackage(folder / "tiny.par", manifest);
  }
  /// One product with a bias, or with the kernel `zero` for one: of its buffers C is as large as a table.
  void writeWithBias(int ranks) {
    json manifest = cudaManifest(1, ranks), biased = product(2);
    biased["m"] = 12 * TINY_VOCAB / 8, biased["epilogue"] = "bias", biased["workspace"] = 0;
    biased["separate"] = json::array({{{"kernel", 0}, {"buffers", {3, 4}}}});
    manifest["programs"][0]["products"] = json::array({biased});
    writeCudaPackage(folder / "tiny.par", manifest);
  }
  /// A process per rank $r, each with a GPU.
  RunResult runProcesses(const std::string &variables, const std::string &more = "") {
    return runShell(
        "for r in 0 1 2; do ( RANK=$r WORLD_SIZE=3 LOCAL_RANK=$r MASTER_ADDR=127.0.0.1 MASTER_PORT=" +
        std::to_string(freePort()) +
        " PAR_STANDIN_DEVICES=3 PAR_STANDIN_ALGORITHMS=5 PAR_STANDIN_QUICKEST=4 LD_LIBRARY_PATH=" +
        PAR_STANDIN_DIR + " XDG_CACHE_HOME=" + (folder / "cache") + " " + variables +
        " timeout 60 " PAR_RUN " " + (folder / "tiny.par") + " --data " + (folder / "data.txt") +
        " --steps 1 " + more + " ; echo $r code $? ) & done; wait");
  }
  static void expectLine(const RunResult &result, const std::string &part) {
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output << "expected: " << part;
  }
  RunResult run(const std::string &more = "", const std::string &variables = "") {
    return parRun((folder / "tiny.par") + " --data " + (folder / "data.txt") + " --steps 2 " + more,
                  "LD_LIBRARY_PATH=" PAR_STANDIN_DIR " PAR_STANDIN_KERNELS=" + (folder / "tiny.par") +
                      " PAR_STANDIN_ALGORITHMS=5 PAR_STANDIN_QUICKEST=4 XDG_CACHE_HOME=" +
                      (folder / "cache") + " " + variables);
  }
  std::string cached(const std::string &machine = "stand-in-CUDA-12.8-cuBLASLt-13.0.2") {
    return (folder / "cache") + "/par/products-" + machine + ".json";
  }
  json content() { return json::parse(readText(cached())); }
  void expectMeasured(const RunResult &result, const std::string &line) {
    EXPECT_EQ(result.exitCode, 0) << result.output;
    size_t at = result.output.find("\nproducts: ");
    if (line.empty())
      EXPECT_EQ(at, std::string::npos) << result.output;
    else
      EXPECT_EQ(result.output.substr(std::min(at, result.output.size()), line.size() + 1), "\n" + line)
          << result.output;
  }

  TemporaryFolder folder;
};

TEST_F(ProductTuningRun, TheFirstStartMeasuresAndLaterOnesKnow) {
  write();
  RunResult first = run();
  expectMeasured(first, "products: 2 measured in 0.");
  EXPECT_NE(first.output.find("; kept in " + cached() + "\n"), std::string::npos) << first.output;
  json kept = content();
  EXPECT_EQ(kept["machine"], "stand-in, CUDA 12.8, cuBLASLt 13.0.2");
  EXPECT_EQ(kept["products"],
            (json{{"1 of 2 x 2 x 2 A 2,0 B 2,0 C 2,0, f32 to f32, none, workspace 256", 3},
                  {"1 of 4 x 4 x 4 A 4,0 B 4,0 C 4,0, f32 to f32, none, workspace 256", 3}}));
  expectMeasured(run("", "PAR_STANDIN_QUICKEST=0"), "");
  EXPECT_EQ(content(), kept);
  expectMeasured(run("", "PAR_STANDIN_DRIVER=13000"), "products: 2 measured in ");
  EXPECT_TRUE(std::filesystem::exists(cached("stand-in-CUDA-13.0-cuBLASLt-13.0.2")));
}

/// A key tells the kernels as well: other ones are measured anew.
TEST_F(ProductTuningRun, WhetherKernelsComputeEpiloguesIsKeptToo) {
  writeWithBias(1);
  RunResult first = run("", "PAR_STANDIN_EPILOGUE=1000");
  expectMeasured(first, "products: 1 measured in 0.");
  EXPECT_NE(first.output.find(" s, 1 quicker with kernels for their epilogues; kept in "), std::string::npos)
      << first.output;
  EXPECT_EQ(
      content()["products"],
      (json{{"1 of 15 x 2 x 2 A 2,0 B 2,0 C 2,0, f32 to f32, bias or generic, 1 x 1, workspace 0", 9}}));
  expectMeasured(run(), "");
  std::filesystem::remove_all(folder / "cache");
  expectMeasured(run("--deterministic", "PAR_STANDIN_EPILOGUE=1000"), "");
}

TEST_F(ProductTuningRun, EpiloguesThatTheLibraryDoesNotHaveAreTold) {
  writeWithBias(1);
  const std::string line =
      "products: cuBLASLt has no algorithm with the epilogue of 1 (bias): kernels compute it\n";
  expectMeasured(run("--deterministic", "PAR_STANDIN_WITHOUT=4"), line);
  expectMeasured(run("--tune-seconds 0", "PAR_STANDIN_WITHOUT=4"), line);
  RunResult measured = run("", "PAR_STANDIN_WITHOUT=4");
  expectMeasured(measured, "products: 1 measured in ");
  EXPECT_NE(measured.output.find("\n" + line), std::string::npos) << measured.output;
  EXPECT_EQ(content()["products"].begin().value(), 9);
}

/// The quickest number of one library is another way of another one.
TEST_F(ProductTuningRun, MachinesThatDifferShareNoNumbers) {
  writeWithBias(3);
  for (const char *differs : {"PAR_STANDIN_NAME=gpu$((r/2))", "PAR_STANDIN_DRIVER=1208$((r/2))0"}) {
    RunResult result = runProcesses(differs);
    EXPECT_EQ(count(result.output, "code 0"), 3) << result.output;
    expectLine(result, "products: rank 2 has another GPU, driver or cuBLASLt than rank 0, which has ");
    expectLine(result, ": nothing is measured, and every rank computes in its library's first way\n");
    EXPECT_EQ(result.output.find(" measured in "), std::string::npos) << result.output;
    EXPECT_FALSE(std::filesystem::exists(folder / "cache"));
  }
  expectLine(runProcesses("PAR_STANDIN_NAME=gpu$r"), "products: rank 1 and 1 more have another GPU, ");
  EXPECT_EQ(runProcesses("PAR_STANDIN_NAME=gpu$r", "--deterministic").output.find("\nproducts: "),
            std::string::npos);
  RunResult alike = runProcesses("PAR_STANDIN_NAME=gpu");
  EXPECT_EQ(alike.output.find(" another GPU"), std::string::npos) << alike.output;
  expectLine(alike, "products: 1 measured in ");
}

/// Where one library has no algorithm with an epilogue, kernels compute it on every rank.
TEST_F(ProductTuningRun, WhatOneLibraryDoesNotHaveNoRankTakes) {
  writeWithBias(3);
  expectLine(runProcesses("PAR_STANDIN_WITHOUT=$((r/2*4))"),
             "products: cuBLASLt has no algorithm with the epilogue of 1 (bias): kernels compute it\n");
}

TEST_F(ProductTuningRun, WhatIsKnownIsAddedTo) {
  write();
  std::string small = "1 of 2 x 2 x 2 A 2,0 B 2,0 C 2,0, f32 to f32, none, workspace 256";
  std::filesystem::create_directories((folder / "cache") + "/par");
  writeText(cached(), json{{"machine", "stand-in, CUDA 12.8, cuBLASLt 13.0.2"},
                           {"products", {{small, 1}, {"of another package", 3}}}}
                          .dump());
  RunResult result = run();
  expectMeasured(result, "products: 1 measured in 0.");
  EXPECT_NE(result.output.find(" s, 1 known before; kept in "), std::string::npos) << result.output;
  EXPECT_EQ(content()["products"].size(), 3u);
  EXPECT_EQ(content()["products"][small], 1);
}

/// Each is measured anew, and the file is good then.
TEST_F(ProductTuningRun, FilesThatAreDamagedAreNotBelieved) {
  write();
  run();
  std::string good = readText(cached());
  json other = content(), negative = content(), huge = content(), list = content(), word = content();
  other["machine"] = "another";
  for (json *each : {&negative, &huge, &word})
    for (auto &way : (*each)["products"])
      way = each == &negative ? json(-1) : each == &huge ? json(uint64_t(1) << 40) : json("2");
  list["products"] = json::array({1, 2});
  for (const std::string &text : {std::string(), good.substr(0, good.size() / 2), std::string("[]"),
                                  std::string("null"), std::string("\xff\xfe"), other.dump(), negative.dump(),
                                  huge.dump(), list.dump(), word.dump(), std::string("{\"machine\": 3}")}) {
    writeText(cached(), text);
    expectMeasured(run(), "products: 2 measured in ");
    EXPECT_EQ(readText(cached()), good) << text;
  }
}

TEST_F(ProductTuningRun, WhatCannotBeKeptIsGoodForTheRun) {
  write();
  writeText(folder / "cache", "a file");
  RunResult result = run();
  expectMeasured(result, "products: 2 measured in ");
  EXPECT_NE(result.output.find("; not kept: " + cached() + ": its folder cannot be made: "),
            std::string::npos)
      << result.output;
  result = run("", "XDG_CACHE_HOME= HOME=");
  EXPECT_NE(result.output.find("; not kept: there is no home folder\n"), std::string::npos) << result.output;
  RunResult home = run("", "XDG_CACHE_HOME=relative HOME=" + (folder / "home"));
  EXPECT_NE(home.output.find("; kept in " + (folder / "home") + "/.cache/par/products-"), std::string::npos)
      << home.output;
}

TEST_F(ProductTuningRun, NothingIsMeasuredWhereNobodyWantsIt) {
  write();
  expectMeasured(run("--tune-seconds 0"), "");
  expectMeasured(run("--deterministic"), "");
  expectMeasured(run("--deterministic --tune-seconds 0"), "");
  expectMeasured(run("", "PAR_STANDIN_ALGORITHMS=1"), "");
  EXPECT_FALSE(std::filesystem::exists(folder / "cache"));
}

TEST_F(ProductTuningRun, WhatMeansNothingIsRefused) {
  write();
  RunResult both = run("--deterministic --tune-seconds 3");
  EXPECT_EQ(both.exitCode, 1);
  EXPECT_NE(
      both.output.find("error: --deterministic computes products the same way each time, but --tune-seconds "
                       "measures which is the quickest; leave one of them out"),
      std::string::npos)
      << both.output;
  writePackage(folder / "cpu.par", tinyManifest(1, 1));
  RunResult cpu =
      parRun((folder / "cpu.par") + " --data " + (folder / "data.txt") + " --steps 1 --tune-seconds 3");
  EXPECT_EQ(cpu.exitCode, 1);
  EXPECT_NE(cpu.output.find("error: --tune-seconds is for products of GPUs, but " + (folder / "cpu.par") +
                            "/manifest.json has target cpu; leave it out"),
            std::string::npos)
      << cpu.output;
}

/// Steps are as without: the arena is as it was.
TEST_F(ProductTuningRun, RanksThatShareAGpuMeasureOnce) {
  write(2);
  std::string save =
      " --save-params " + (folder / "tuned.safetensors") + " --metrics " + (folder / "tuned.jsonl");
  expectMeasured(run(save), "products: 2 measured in ");
  run("--tune-seconds 0 --save-params " + (folder / "plain.safetensors") + " --metrics " +
      (folder / "plain.jsonl"));
  EXPECT_EQ(tensorsOf(folder / "tuned.safetensors"), tensorsOf(folder / "plain.safetensors"));
  EXPECT_EQ(metricsOf(folder / "tuned.jsonl")[0]["peak_bytes"],
            metricsOf(folder / "plain.jsonl")[0]["peak_bytes"]);
}

} // namespace

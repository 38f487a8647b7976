// Everything that can be wrong with a run ends with exit code 1, one error line and no files.
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "par/io/Sha256.h"
#include "par/runtime.h"

#include <gtest/gtest.h>

#include <functional>

using namespace par::test;
using nlohmann::json;

namespace {

class Failing : public testing::Test {
protected:
  void SetUp() override {
    manifest = tinyManifest(2, 2);
    writePackage(folder / "p/tiny.par", manifest);
  }
  /// Runs in the empty folder "out"; checks exit code, error line and that nothing was left behind.
  void expectError(const std::string &arguments, const std::string &part,
                   const std::string &environment = "") {
    std::filesystem::create_directories(folder / "out");
    RunResult run = runShell("cd " + (folder / "out") + " && " + environment + " " PAR_RUN " " + arguments);
    EXPECT_EQ(run.exitCode, 1) << run.output;
    EXPECT_EQ(count(run.output, "error: "), 1) << run.output;
    EXPECT_NE(run.output.find(part), std::string::npos) << run.output << "expected: " << part;
    EXPECT_TRUE(std::filesystem::is_empty(folder / "out")) << run.output;
    seconds = run.seconds, output = run.output;
  }
  std::string package() const { return folder / "p/tiny.par"; }
  void rewrite() { writePackage(package(), manifest); }

  TemporaryFolder folder;
  json manifest;
  double seconds = 0;
  std::string output;
  const std::string all = " --steps 3 --metrics m --save-params p --save-grads g ";
};

} // namespace

TEST_F(Failing, Packages) {
  expectError("nowhere.par --steps 1", "nowhere.par: is no package");
  std::string text = readText(package() + "/manifest.json");
  writeText(package() + "/manifest.json", text.substr(0, 100));
  expectError(package() + all, "manifest.json: is no JSON object");
  std::string changed = text;
  changed.replace(changed.find("\"batch\":8"), 9, "\"batch\":4");
  writeText(package() + "/manifest.json", changed);
  expectError(package() + all, "manifest.json: was changed after it was compiled");
  writeText(package() + "/manifest.json", text + " ");
  expectError(package() + all, "was changed");
  rewrite();
  std::string program = readText(package() + "/program0.so");
  program[program.size() / 2] = char(program[program.size() / 2] ^ 1);
  writeText(package() + "/program0.so", program);
  expectError(package() + all, "program0.so: was changed after it was compiled");
  std::filesystem::remove(package() + "/program0.so");
  expectError(package() + all, "program0.so: cannot be read");
  rewrite();
  std::filesystem::remove(package() + "/rank");
  expectError(package() + all, "rank: cannot be read");
  std::filesystem::remove(package() + "/manifest.json");
  expectError(package() + all,
              "is no package: it has no manifest.json; par-compile MODEL -o DIR.par makes packages");
}

TEST_F(Failing, ManifestsOfOthers) {
  auto expectManifestError = [&](const std::string &pointer, const json &value, const std::string &part) {
    manifest = tinyManifest(2, 2);
    manifest[json::json_pointer(pointer)] = value;
    rewrite();
    expectError(package() + all, part);
  };
  expectManifestError("/format_version", 1, "format_version is 1, this runtime runs 6");
  expectManifestError("/abi_version", PAR_ABI_VERSION + 1,
                      "abi_version is " + std::to_string(PAR_ABI_VERSION + 1));
  // One is AMD's and given up, the other Intel's: no processor has both.
  expectManifestError("/cpu_features", {"xop", "amx-tile"}, "was compiled for a processor with ");
  expectManifestError("/cpu_features", {"warp"}, "does not know the processor feature \"warp\"");
  expectManifestError("/target", "rocm", "target is \"rocm\"");
  expectManifestError("/world_size", 5, "world_size is 5");
  expectManifestError("/seq", "many", "seq: is \"many\", expected an integer");
  expectManifestError("/programs/0/arena_bytes", 800, "of an arena of 800");
  expectManifestError("/programs/0/variables/0/local_shape", {4, 3}, "10 elements over 2 shards of 4");
  expectManifestError("/programs/0/variables/0/sharding/0/0", "ep", "names the axis \"ep\"");
  expectManifestError("/programs/0/variables/0/file/permutation", {1, 1},
                      "must hold each of the 2 dimensions once");
  expectManifestError("/programs/0/variables/1/of", "x", "belongs to \"x\", which is no parameter");
  expectManifestError("/programs/0/inputs/2/name", "temperature",
                      "input \"temperature\" is not one that this runtime provides");
  expectManifestError("/programs/0/inputs/0/offsets", {0}, "has 1 offsets, expected one per micro-batch");
  expectManifestError("/programs/0/collectives/0/kind", "all_hail", "no collective");
  expectManifestError("/programs/0/collectives/0/dtype", "f8", "expected f32, bf16, i32, i64 or i1");
  expectManifestError("/functions", {{{"work", 0}, {"calls", {{0, 1}}}}},
                      "functions call each other in a circle");
  expectManifestError("/functions", {{{"work", 0}, {"calls", {{7, 1}}}}}, "a function calls number 7 of 1");
  expectManifestError("/functions", {{{"work", 99}, {"calls", json::array()}}},
                      "functions have 99 pieces of work");
  expectManifestError("/functions", {{{"work", 0}, {"calls", {{1}}}}}, "is no [function, times]");
  expectManifestError("/programs/0/constants/0/count", 1000, "a constant has 4000 bytes from byte 544 on");
  expectManifestError("/programs/0/constants/0/count", -1, "count: is -1, expected an integer from 0");
  expectManifestError("/programs/0/outputs/0/name", "cost", "no program has an output \"loss\"");
  expectManifestError("/programs/0/inputs/2/name", "loss_weight.z",
                      "input \"loss_weight.z\" is not one that this runtime provides");
  expectManifestError("/losses", {{{"name", "z"}, {"weight", 1.0}}}, "no program has an output \"loss.z\"");
  expectManifestError("/losses", {{{"name", "a\"b"}}}, "name: is \"a\"b\", expected letters, digits");
}

/// Every rank has one program, and in each collective of it one group.
TEST_F(Failing, RanksWithoutAProgramOrAGroup) {
  auto expectManifestError = [&](const std::function<void(json &)> &change, const std::string &part) {
    manifest = tinyManifest(2, 2);
    manifest["programs"].push_back(manifest["programs"][0]);
    manifest["programs"][1]["file"] = "program1.so";
    manifest["programs"][0]["ranks"] = {{"dp", {0}}};
    manifest["programs"][1]["ranks"] = {{"dp", {1}}};
    change(manifest["programs"]);
    rewrite();
    expectError(package() + all, part);
  };
  expectManifestError([](json &p) { p.erase(1); }, "programs are there for 2 of 4 ranks");
  expectManifestError([](json &p) { p.clear(); }, "programs: is empty");
  expectManifestError([](json &p) { p[1]["ranks"] = {{"tp", {1}}}; },
                      "programs 0 and 1 have ranks in common");
  expectManifestError([](json &p) { p[1]["ranks"] = {{"ep", {1}}}; }, "names the axis \"ep\"");
  expectManifestError([](json &p) { p[1]["ranks"] = {{"dp", {2}}}; }, "expected an integer from 0 to 1");
  expectManifestError([](json &p) { p[1]["ranks"] = {{"dp", {1, 1}}}; },
                      "is empty or not in ascending order");
  expectManifestError([](json &p) { p[1]["ranks"] = {{"dp", json::array()}}; },
                      "is empty or not in ascending");
  expectManifestError([](json &p) { p[1]["ranks"] = "all"; }, "ranks: is no object");
  expectManifestError(
      [](json &p) { p[1]["variables"][1]["role"] = "moment"; },
      "variable \"w.gradient\" of program 1 has another role, type, shape or sharding than that "
      "of program 0");
  expectManifestError(
      [](json &p) {
        p[1]["schedules"].push_back(
            {{"name", "eval"}, {"function", "par_schedule_eval"}, {"arena_bytes", TINY_ARENA}});
      },
      "no program has an output \"eval_loss\"");
  expectManifestError([](json &p) { p[1]["outputs"][0]["name"] = "eval_loss"; },
                      "output \"eval_loss\" is there, but no schedule \"eval\" that writes it");
  auto expectGroupError = [&](const json &groups, const std::string &part) {
    expectManifestError(
        [&](json &p) {
          p[1]["collectives"][0].erase("axes");
          p[1]["collectives"][0]["groups"] = groups;
        },
        part);
  };
  expectGroupError({{0, 2}, {1}}, "collective 0 has groups of 2 and of 1 ranks");
  expectGroupError({{0, 2}, {1, 4}}, "collective 0 names rank 4 of 4");
  expectGroupError({{0, 2}, {2, 3}}, "collective 0 names rank 2 twice");
  expectGroupError({{0, 2}}, "collective 0: rank 3 of program1.so is in no group");
  expectManifestError([](json &p) { p[0]["collectives"][0]["groups"] = {{0, 1, 2, 3}}; },
                      "both \"axes\" and \"groups\"");
  expectManifestError([](json &p) { p[0]["collectives"][0].erase("axes"); },
                      "neither \"axes\" nor \"groups\"");
}

/// Sizes whose products do not fit into 64 bits, and arenas that are smaller than what the runtime writes.
TEST_F(Failing, ManifestsBeyondMemory) {
  auto expectManifestError = [&](const std::string &pointer, const json &value, const std::string &part) {
    manifest = tinyManifest(2, 2);
    manifest[json::json_pointer(pointer)] = value;
    rewrite();
    expectError(package() + all, part);
  };
  int64_t large = int64_t(1) << 32;
  expectManifestError("/programs/0/variables/0/local_shape", {large, large}, "which no memory can hold");
  expectManifestError("/programs/0/variables/0/local_shape", {5, INT64_MAX},
                      "has a dimension of 92233720368");
  expectManifestError("/programs/0/inputs/0/local_shape", {large, large}, "which no memory can hold");
  expectManifestError("/programs/0/variables/0/file/shape", {large, large}, "which no memory can hold");
  expectManifestError("/programs/0/collectives/0/counts", {INT64_MAX}, "elements, which no memory can hold");
  expectManifestError("/programs/0/schedules/0/arena_bytes", 64, "on of an arena of 64");
  expectManifestError("/programs/0/schedules/0/arena_bytes", TINY_W, "of an arena of 640");
  expectManifestError("/programs/0/outputs/0/local_shape", {0}, "output \"loss\"");
  expectManifestError("/batch", int64_t(1) << 41, "batch, seq or micro_batches is above");
  expectManifestError("/seq", INT64_MAX, "batch, seq or micro_batches is above");
  expectManifestError("/axes/0/size", 1 << 30, "ranks, world_size is 4");
}

/// What is in the code as well as in the manifest is that of one compilation.
TEST_F(Failing, ProgramsOfOtherManifests) {
  for (auto [pointer, value] :
       std::vector<std::pair<std::string, json>>{{"/model/vocab", 9},
                                                 {"/model/vocab", INT32_MAX},
                                                 {"/programs/0/collectives/0/counts", {3}},
                                                 {"/programs/0/collectives/0/dtype", "i32"},
                                                 {"/programs/0/variables/0/offset", TINY_W + 4},
                                                 {"/optimizer", "adamw"}}) {
    std::string program = readText(package() + "/program0.so");
    manifest = tinyManifest(2, 2);
    manifest[json::json_pointer(pointer)] = value;
    manifest["files"]["program0.so"] = par::io::sha256(program);
    rewrite();
    writeText(package() + "/program0.so", program);
    expectError(package() + all, "program0.so: was compiled with another manifest than");
    manifest = tinyManifest(2, 2);
    rewrite();
  }
}

TEST_F(Failing, Flags) {
  expectError("", "DIR.par is missing");
  expectError(package(), "--steps is missing");
  expectError(package() + " --steps 1 --frobnicate", "--frobnicate");
  expectError(package() + " --steps -1", "--steps");
  expectError(package() + " --steps 1 --lr-schedule square", "--lr-schedule");
  expectError(package() + " --steps 1 --data-dtype f64", "--data-dtype");
  expectError(package() + " --steps 0 --save-grads g", "--save-grads needs a step");
  expectError(package() + " --steps 1 --eval-every 1", "--eval-every needs --eval-data FILE");
  expectError(package() + " --steps 1 --eval-data random", "random data has no end; give a file");
  expectError(package() + " --steps 1 --eval-data x", "has no schedule \"eval\", which --eval-data needs");
  expectError(package() + " --steps 1 --config x", "x: cannot be read");
  expectError(package() + " --steps 1 --transport nccl", "--transport nccl needs a process with a GPU");
  expectError(package() + " --steps 1 --transport mpi", "--transport mpi needs mpirun");
  expectError(package() + " --steps 1 --shuffle",
              "data random: has neither an order nor documents; leave --shuffle out");
  expectError(package() + " --steps 1 --documents cut", "--documents");
  expectError(package() + " --steps 1 --document-end 3",
              "--document-end serves --documents mask and isolate only");
  expectError(package() + " --steps 1 --checkpoint-every 1", "--checkpoint-every needs --checkpoint DIR");
  expectError(package() + " --steps 1 --resume latest", "--resume latest needs --checkpoint DIR");
  expectError(package() + " --steps 1 --resume a --weights b", "give one");
  expectError(package() + " --steps 1 --transport tcp", "--transport tcp needs RANK");
  expectError(package() + " --steps 1 --rank 4", "--rank 4 is not one of the 4 ranks");
  expectError(package() + " --steps 1 --emulate-kernels 1,1", "does not say what its functions consist of");
  expectError(package() + " --steps 1", "PAR_TEST_FAULT: \"fail\"", "PAR_TEST_FAULT=fail");
}

/// The file is mapped: what is gone of it is a bus error in whichever rank reads next.
TEST_F(Failing, DataCutShortWhileItIsRead) {
  writeText(folder / "p/long", std::string(20000, '\1'));
  std::string script = "( " PAR_RUN " " + package() + " --steps 1000000000 --save-params x --data " +
                       (folder / "p/long") + " --metrics " + (folder / "p/m") + " ) & until [ -s " +
                       (folder / "p/m") + " ] || ! kill -0 $!; do sleep 0.05; done; truncate -s 0 " +
                       (folder / "p/long") + "; wait $!";
  std::filesystem::create_directories(folder / "out");
  RunResult run = runShell("cd " + (folder / "out") + " && " + script);
  EXPECT_EQ(run.exitCode, 1) << run.output;
  EXPECT_EQ(count(run.output, "error: "), 1) << run.output;
  EXPECT_NE(run.output.find("p/long: was cut short while "), std::string::npos) << run.output;
  EXPECT_TRUE(std::filesystem::is_empty(folder / "out")) << run.output;
}

TEST_F(Failing, LinksToEmulate) {
  for (const char *link : {"0,5", "1e-30,0", "1e7,0", "1,1e9", "1", "1,-2", "fast,1", "1,2,3"})
    expectError(package() + " --steps 1 --emulate-link " + link,
                std::string("--emulate-link is '") + link + "', expected GBps,us");
  expectError(package() + " --steps 1 --rank 0 --emulate-link 1,5",
              "--emulate-link slows the transport local down");
}

TEST_F(Failing, DataAndWeights) {
  writeText(folder / "p/short.txt", "abc");
  writeText(folder / "p/letters.txt", "abcdefghijklmnopqrstuvwxyz");
  writeText(folder / "p/weights", "abc");
  expectError(package() + all + "--data " + (folder / "p/short.txt"), "short.txt: token 0 is 97");
  expectError(package() + all + "--data " + (folder / "p/letters.txt"), "letters.txt: token 0 is 97");
  expectError(package() + all + "--data " + (folder / "p/none.txt"), "none.txt: cannot be read");
  expectError(package() + all + "--weights " + (folder / "p/weights"), "is no safetensors file");
  expectError(package() + " --steps 1 --metrics m --save-params /no/such/place/p",
              "/no/such/place/p: cannot be written");
  expectError(package() + " --steps 1 --save-params p --metrics /no/such/place/m",
              "/no/such/place/m: cannot be written");
}

TEST_F(Failing, ARankThatFails) {
  for (bool started : {false, true}) {
    manifest = tinyManifest(2, 2, started);
    rewrite();
    expectError(package() + all, "rank 1 failed in step 1, action 2 \"reduce\" (chunk 0)",
                "PAR_TEST_FAULT=fail:rank=1,step=1,action=2");
    EXPECT_NE(output.find("rank 1: step 1, action 2 \"reduce\" (chunk 0)  <- behind"), std::string::npos)
        << output;
    EXPECT_NE(output.find("rank 3: "), std::string::npos) << output;
    EXPECT_LT(seconds, 20); // it did not wait for the time limit
  }
}

TEST_F(Failing, ARankThatStalls) {
  for (bool started : {false, true}) {
    manifest = tinyManifest(2, 2, started);
    rewrite();
    expectError(package() + all + "--timeout 1.5",
                "rank 2 is behind: nothing was heard for 1.5 s (--timeout) in step 1, action 1 \"forward\" "
                "(chunk 0, micro-batch 1)",
                "PAR_TEST_FAULT=stall:rank=2,step=1,action=1");
    EXPECT_NE(output.find("rank 2: step 1, action 1 \"forward\" (chunk 0, micro-batch 1)  <- behind"),
              std::string::npos)
        << output;
    EXPECT_NE(output.find("rank 0: step 1, action 2 \"reduce\" (chunk 0), waits in all_reduce over dp"),
              std::string::npos)
        << output;
    EXPECT_LT(seconds, 20); // on a busy machine; the default limit is 300
  }
}

TEST_F(Failing, AStallInALaterStepKeepsTheMetricsOfEarlierOnes) {
  std::string out = folder / "p/m";
  expectError(package() + " --steps 3 --save-params p --timeout 1 --metrics " + out, "rank 0 is behind",
              "PAR_TEST_FAULT=stall:rank=0,step=3,action=0");
  EXPECT_EQ(metricsOf(out).size(), 2u);
}

TEST_F(Failing, NumbersThatAreNotFinite) {
  manifest["programs"][0]["constants"][2]["value"] = 1e38; // overflows in the loss
  manifest["programs"][0]["variables"][0]["init"]["kind"] = "ones";
  rewrite();
  std::string out = folder / "p/m";
  expectError(package() + " --steps 5 --save-params p --metrics " + out,
              "loss or gradient norm of step 1 is not finite");
  std::vector<json> lines = metricsOf(out);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["grad_norm"], "inf");
  RunResult run = parRun(package() + " --steps 5 --allow-nonfinite --metrics " + out);
  EXPECT_EQ(run.exitCode, 0) << run.output;
  lines = metricsOf(out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[4]["loss"], "-inf"); // after an infinite step down

  manifest["programs"][0]["constants"][2]["value"] = 1e30; // overflows where gradients are squared
  rewrite();
  expectError(package() + " --steps 5 --save-params p --metrics " + out,
              "loss or gradient norm of step 1 is not finite");
  lines = metricsOf(out);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0]["loss"].is_number());
  EXPECT_EQ(lines[0]["grad_norm"], "inf");
}

TEST_F(Failing, ASignalStopsAfterTheStep) {
  for (const char *signal : {"INT", "TERM"}) {
    std::string out = folder / "p/m";
    std::filesystem::create_directories(folder / "out");
    std::filesystem::remove(out);
    RunResult run = runShell("cd " + (folder / "out") + " && { " PAR_RUN " " + package() +
                             " --steps 100000000 --save-params p --metrics " + out + " & until [ -s " + out +
                             " ] || ! kill -0 $!; do sleep 0.1; done; kill -" + signal + " $!; wait $!; }");
    EXPECT_EQ(run.exitCode, 1) << run.output;
    EXPECT_NE(run.output.find("stopped by a signal after step"), std::string::npos) << run.output;
    EXPECT_TRUE(std::filesystem::is_empty(folder / "out")) << run.output;
    EXPECT_GT(metricsOf(out).size(), 0u); // whole lines only, or parsing throws
  }
}

TEST_F(Failing, ASecondSignalEndsAStalledRun) {
  std::string log = folder / "p/log";
  std::filesystem::create_directories(folder / "out");
  RunResult run =
      runShell("cd " + (folder / "out") + " && { PAR_TEST_FAULT=stall:rank=1,step=2,action=0 " PAR_RUN " " +
               package() + " --steps 3 --save-params p >" + log + " 2>&1 & until grep -q '^step 1' " + log +
               " || ! kill -0 $!; do sleep 0.1; done; kill -INT $!; sleep 3; kill -INT $!; wait $!; }");
  EXPECT_EQ(run.exitCode, 1) << run.output;
  EXPECT_NE(readText(log).find("ended at once by a second signal"), std::string::npos) << readText(log);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "out"));
}

TEST_F(Failing, ARankThatCrashesIsNamed) {
#ifdef PAR_SANITIZE
  GTEST_SKIP() << "the sanitizers report crashes themselves";
#endif
  // The constant is the number of rows that the program reads: far beyond the arena.
  manifest["programs"][0]["constants"][0]["value"] = 100000000;
  rewrite();
  expectError(package() + all, "crashed with signal 11 in step 1, action 0 \"forward\"");
}

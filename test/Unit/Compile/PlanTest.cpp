//===- PlanTest.cpp - plans as flags, as an attribute, as JSON ------------------------------------------===//
#include "mlir/AsmParser/AsmParser.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/PlanFlags.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Plan/PlanJson.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

/// The plan that a command line means.
Plan parse(std::vector<const char *> arguments) {
  Plan plan;
  Flags flags("test", "");
  describeModelFlags(flags, plan);
  describeTrainingFlags(flags, plan);
  describeShardingFlags(flags, plan);
  describeSearchFlags(flags, plan);
  describeProgramFlags(flags, plan);
  arguments.insert(arguments.begin(), "test");
  EXPECT_FALSE(flags.take(static_cast<int>(arguments.size()), arguments.data()).has_value());
  return plan;
}

/// No field has its default.
Plan makeUnusual() {
  Plan plan = parse({"--seq",
                     "48",
                     "--batch",
                     "24",
                     "--micro-batches",
                     "3",
                     "--dtype",
                     "bf16",
                     "--documents",
                     "isolate",
                     "--grad-dtype",
                     "bf16",
                     "--moment-dtype",
                     "bf16",
                     "--optimizer",
                     "sgd",
                     "--mesh",
                     "tp=2,dp=4,dp_shard=2",
                     "--zero",
                     "3",
                     "--zero3-gather",
                     "per-step",
                     "--overlap",
                     "on",
                     "--prefetch-limit",
                     "0",
                     "--bucket-bytes",
                     "4MiB",
                     "--recompute",
                     "auto",
                     "--recompute-limit",
                     "1KiB",
                     "--offload",
                     "optimizer:host-update",
                     "--schedule",
                     "zb-v",
                     "--chunks",
                     "2",
                     "--cuts",
                     "1,5",
                     "--target",
                     "cuda",
                     "--cpu",
                     "x86-64-v3",
                     "--sharding-search",
                     "--parameter-limit",
                     "1KiB",
                     "--freeze",
                     "model.embed_tokens.*",
                     "--weight-decay-on",
                     "*.weight",
                     "--strategy",
                     "mine{least=2},other",
                     "--sequence-parallel"});
  plan.model = "00ff";
  return plan;
}

std::string printJson(const Plan &plan) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(toJson(plan));
  return text;
}

std::string getError(llvm::Error error) { return llvm::toString(std::move(error)); }

TEST(PlanTest, FlagsReachTheirFields) {
  Plan plan = makeUnusual(), usual;
  visitFields(
      [](const PlanField &field, const auto &value, const auto &other) {
        if (field.name != "version")
          EXPECT_FALSE(value == other) << field.name.str();
      },
      plan, usual);
  EXPECT_EQ(plan.mesh, (NamedAxes{{"dp_replicate", 2}, {"dp_shard", 2}, {"tp", 2}}));
  EXPECT_EQ(plan.prefetchLimit, 0);
  EXPECT_EQ(plan.getGraphBatch(), 8);
}

TEST(PlanTest, RoundTripThroughJson) {
  for (const Plan &plan : {Plan(), makeUnusual()}) {
    llvm::Expected<Plan> read = parsePlan("plan.json", printJson(plan));
    ASSERT_TRUE(bool(read)) << getError(read.takeError());
    EXPECT_EQ(*read, plan);
  }
}

TEST(PlanTest, RoundTripThroughTheAttribute) {
  MLIRContext context;
  context.loadDialect<ParDialect>();
  for (const Plan &plan : {Plan(), makeUnusual()}) {
    auto attribute = PlanAttr::get(&context, plan, CompilePhase::Partition);
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    auto read = dyn_cast_or_null<PlanAttr>(parseAttribute(text, &context));
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read, attribute) << text;
    EXPECT_EQ(read.getPlan(), plan);
    EXPECT_EQ(read.getAfter(), CompilePhase::Partition);
  }
}

TEST(PlanTest, DifferencesAreFlags) {
  Plan usual, other;
  EXPECT_EQ(printDifference(usual, other), "");
  other.mesh = {{"dp", 2}, {"tp", 4}};
  other.offload = OffloadKind::DeviceUpdate;
  other.sequenceParallel = other.overlap = true;
  other.microBatches = 8;
  std::string flags =
      "--overlap on --micro-batches 8 --sequence-parallel --offload optimizer --mesh dp=2,tp=4";
  EXPECT_EQ(printDifference(usual, other), flags);
  // What they print they read.
  SmallVector<StringRef> words;
  StringRef(flags).split(words, ' ');
  std::vector<std::string> texts(words.begin(), words.end());
  std::vector<const char *> arguments;
  for (const std::string &text : texts)
    arguments.push_back(text.c_str());
  EXPECT_EQ(parse(arguments), other);
}

/// Reads a text as a plan; the error, or nothing.
static std::string readText(const std::string &text) {
  llvm::Expected<Plan> plan = parsePlan("p.json", text);
  return plan ? std::string() : getError(plan.takeError());
}

// A proposal that takes a value back says so by a flag that is read.
TEST(PlanTest, ValuesAreTakenBackByNone) {
  Plan limited, other;
  limited.overlap = true, limited.prefetchLimit = 4096, limited.cuts = {1, 2};
  EXPECT_EQ(printDifference(limited, other), "--overlap off --prefetch-limit none --cuts none");
  EXPECT_EQ(parse({"--overlap", "off", "--prefetch-limit", "none", "--cuts", "none"}), other);
}

// The parser recurses: what nests deeper than any plan is refused before.
TEST(PlanTest, DeepNestingIsRefused) {
  for (const char *begin : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 100000; ++i)
      text += begin;
    EXPECT_EQ(readText(text), "p.json:1: brackets nest deeper than 64 levels, which no plan does");
  }
}

// JSON leaves open which of two equal keys counts, however they are written.
TEST(PlanTest, DoubledKeysAreRefused) {
  std::string text = printJson(Plan());
  std::string error = "p.json:1: the key \"zero\" is in line 1 already; take one of them out";
  text.replace(0, 1, "{\"zero\":2,");
  EXPECT_EQ(readText(text), error);
  text.replace(text.find("zero"), 4, "z\\u0065ro");
  EXPECT_EQ(readText(text), error);
}

// A manifest has its plan, and a plan is found in it; nothing else that has the key is a manifest.
TEST(PlanTest, PlansOfManifestsAreTaken) {
  Plan plan = makeUnusual();
  std::string manifest = "{\"format_version\":6,\"plan\":" + printJson(plan) + ",\"files\":{}}";
  llvm::Expected<Plan> read = parsePlan("manifest.json", manifest);
  ASSERT_TRUE(bool(read)) << getError(read.takeError());
  EXPECT_EQ(*read, plan);
  EXPECT_EQ(readText("{\"format_version\":6,\"plan\":[]}"),
            "p.json: is no JSON object; give a package, or what par-plan -o wrote");
  EXPECT_NE(readText("{\"plan\":" + printJson(plan) + "}"), "");
}

TEST(PlanTest, BadFilesAreNamedWithTheField) {
  auto read = [](llvm::function_ref<void(llvm::json::Object &)> change) {
    llvm::json::Object object = toJson(Plan());
    change(object);
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
    llvm::Expected<Plan> plan = parsePlan("p.json", text);
    return plan ? std::string() : getError(plan.takeError());
  };
  std::string remedy = "; give a package, or what par-plan -o wrote";
  EXPECT_EQ(read([](auto &) {}), "");
  EXPECT_EQ(read([](auto &plan) { plan.erase("cuts"); }), "p.json: the field \"cuts\" is missing" + remedy);
  EXPECT_EQ(read([](auto &plan) { plan["cats"] = 1; }), "p.json: the field \"cats\" is unknown" + remedy);
  EXPECT_EQ(read([](auto &plan) { plan["version"] = 2; }), "p.json: \"version\" is 2, expected 1" + remedy);
  EXPECT_EQ(read([](auto &plan) { plan["zero"] = "3"; }),
            "p.json: \"zero\" is \"3\", expected an integer" + remedy);
  EXPECT_EQ(read([](auto &plan) { plan["mesh"] = "dp"; }),
            "p.json: \"mesh\" is \"dp\", expected a list of pairs [axis, size]" + remedy);
  EXPECT_EQ(read([](auto &plan) { plan["recompute"] = "some"; }),
            "p.json: \"recompute\" is \"some\", expected one of none, selective, full, auto" + remedy);
}

TEST(PlanTest, ContradictionsAreSpokenOfAsTheyWereWritten) {
  auto check = [](Plan plan, const char *file) {
    return getError(checkPlan(plan, PlanWords(file), /*hasMemoryLimit=*/false));
  };
  Plan late;
  late.zero3Gather = GatherTime::PerStep;
  EXPECT_EQ(check(late, ""), "--zero3-gather per-step says when ZeRO-3 gathers parameters, but --zero is 0; "
                             "give --zero 3 or leave it out");
  EXPECT_EQ(check(late, "p.json"),
            "p.json: \"zero3_gather\": \"per-step\" says when ZeRO-3 gathers parameters, but \"zero\" is 0; "
            "give \"zero\": 3 or set it to \"per-micro-batch\"");
  Plan deep;
  deep.chunks = 2;
  EXPECT_EQ(check(deep, ""),
            "--chunks 2 is of pipelines, but --mesh has pp=1; give more stages or leave it out");
  EXPECT_EQ(check(deep, "p.json"),
            "p.json: \"chunks\": 2 is of pipelines, but \"mesh\" has pp=1; give more stages or set it to 1");
  Plan turned;
  turned.mesh = {{"tp", 2}, {"dp", 2}};
  EXPECT_EQ(check(turned, "p.json"),
            "p.json: \"mesh\": tp=2,dp=2 is dp=2,tp=2 in the order of ranks; write that");
}

TEST(PlanTest, IdleFieldsAreTakenOut) {
  Plan plan = parse({"--zero", "3", "--zero3-gather", "per-step", "--overlap", "on", "--bucket-bytes", "1"});
  EXPECT_EQ(dropIdle(plan),
            std::vector<std::string>{"--zero 3, --overlap on, --bucket-bytes 1: no effect on --mesh dp=1"});
  EXPECT_EQ(plan, Plan());
}

} // namespace

// What is proposed in place of a flag, or of a value, that there is not.
#include "par/config/UnknownFlag.h"
#include "par/config/Spelling.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace par::config;

static const std::vector<std::string> someFlags = {"--help",
                                                   "--steps",
                                                   "--eps",
                                                   "--cpu",
                                                   "--to",
                                                   "--lr",
                                                   "--batch",
                                                   "--checkpoint",
                                                   "--seed",
                                                   "--clip-grad-norm",
                                                   "--seq",
                                                   "--tokens",
                                                   "--checkpoint-every",
                                                   "--top",
                                                   "-o"};

// A letter more, less or other, and two that changed places.
TEST(UnknownFlag, SlipsOfTheHandAreSeen) {
  for (auto [typed, meant] : {std::pair("--stesp", "--steps"),
                              {"--step", "--steps"},
                              {"--batches", "--batch"},
                              {"--sed", "--seed"},
                              {"--chekpoint", "--checkpoint"},
                              {"--lrr", "--lr"},
                              {"--STEPS", "--steps"},
                              {"--clip_grad_norm", "--clip-grad-norm"},
                              {"--training.steps", "--steps"}})
    EXPECT_EQ(closest(typed, someFlags), meant) << typed;
}

// A whole word of a flag, from its beginning.
TEST(UnknownFlag, BeginningsAreSeen) {
  EXPECT_EQ(closest("--clip", someFlags), "--clip-grad-norm");
  EXPECT_EQ(closest("--clip-g", someFlags), "");
}

// Of short words everything is a few letters away.
TEST(UnknownFlag, WhatIsNearByChanceIsNot) {
  for (const char *typed : {"--gpus", "--fp8", "--tp", "--x", "--", "-", "", "--frobnicate", "--ls"})
    EXPECT_EQ(closest(typed, someFlags), "") << typed;
}

static std::string refused(std::string spelling, std::string value, std::string tool) {
  return refuseFlag({std::move(spelling), std::move(value)},
                    {std::move(tool), someFlags, {{"--mesh", "par-compile takes it"}}});
}

// Other trainers' names, with the value where it can be repeated.
TEST(UnknownFlag, NamesOfOthersAreKnown) {
  EXPECT_EQ(refused("--tp", "2", "par-compile"), "unknown flag --tp; did you mean --mesh tp=2?");
  EXPECT_EQ(refused("--tensor_model_parallel_size", "8", "par-compile"),
            "unknown flag --tensor_model_parallel_size; did you mean --mesh tp=8?");
  EXPECT_EQ(refused("--parallelism.tensor_parallel_degree", "8", "par-plan"),
            "unknown flag --parallelism.tensor_parallel_degree; did you mean --pin tp=8?");
  for (const char *value : {"", "--dp", "a b", "\x1b[31m", "1234567890123456789012345"})
    EXPECT_EQ(refused("--tp", value, "par-compile"), "unknown flag --tp; did you mean --mesh tp=N?") << value;
}

// Every name of the table, in every tool of its line. A tool that is in no line gets that of all tools.
TEST(UnknownFlag, EveryNameOfTheTableIsAnswered) {
  struct {
    std::string names, tools, say;
  } lines[] = {
#define FOREIGN(names, tools, say) {names, tools, say},
#include "config/ForeignFlags.def"
#undef FOREIGN
  };
  size_t answered = 0;
  for (auto &[names, tools, say] : lines) {
    std::string answer = (say[0] == '-' ? "; did you mean " : ": ") + say + (say[0] == '-' ? "?" : "");
    for (size_t at = 0; (at = answer.find('#', at)) != std::string::npos;)
      answer.replace(at, 1, "7");
    std::istringstream everyName(names);
    for (std::string name; everyName >> name; ++answered) {
      EXPECT_EQ(plainName("--" + name), name) << "is never looked up";
      std::istringstream everyTool(tools);
      for (std::string tool; everyTool >> tool;)
        EXPECT_EQ(refuseFlag({"--" + name, "7"}, {tool == "*" ? "par" : tool, {}, {}}),
                  "unknown flag --" + name + answer);
    }
  }
  EXPECT_GT(answered, 200u);
}

// Where the tool has no such flag: what is not built, or which tool has it; but its own flags come before.
TEST(UnknownFlag, OtherToolsAreNamedLast) {
  EXPECT_EQ(refused("--tp", "2", "par-run"), "unknown flag --tp: par-compile has --mesh tp=2");
  EXPECT_EQ(
      refused("--fp8", "", "par-run"),
      "unknown flag --fp8: numbers of 8 bits are not built; par-compile --dtype bf16 has the narrowest");
  EXPECT_EQ(
      refused("--fp16", "", "par-run"),
      "unknown flag --fp16: training in f16 is not built; par-compile --dtype bf16 needs no loss scale");
  EXPECT_EQ(refused("--fp16", "", "par-export"), "unknown flag --fp16; did you mean --dtype f16?");
  EXPECT_EQ(refused("--optim", "x", "par-run"), "unknown flag --optim: par-compile has --optimizer");
  EXPECT_EQ(suggestFlag({"--num-stages", "4"}, {"par-data", {"--num-stage"}, {}}).meant, "--num-stage");
  EXPECT_EQ(suggestFlag({"--num-stages", "4"}, {"par-compile", {"--num-stage"}, {}}).remedy,
            "; did you mean --mesh pp=4?");
}

// What the tool itself says of a flag, however it is spelt.
TEST(UnknownFlag, RemediesOfTheToolAreKnown) {
  EXPECT_EQ(refused("--mesh", "dp=2", "par-run"), "unknown flag --mesh: par-compile takes it");
  EXPECT_EQ(refused("--parallelism.mesh", "dp=2", "par-run"),
            "unknown flag --parallelism.mesh: par-compile takes it");
  EXPECT_EQ(refused("--frobnicate", "", "par-run"), "unknown flag --frobnicate; --help lists the flags");
}

// Numbers are no slips.
TEST(UnknownFlag, AnotherNumberIsAnotherThing) {
  EXPECT_EQ(suggestWord("sm_70", {"sm_80", "sm_90"}), "");
  EXPECT_EQ(suggestWord("sm80", {"sm_80", "sm_90"}), "; did you mean sm_80?");
  EXPECT_EQ(closest("--beta3", {"--beta1", "--beta2"}), "");
}

// Values that others call otherwise, spell otherwise, or that have a wrong letter.
TEST(UnknownFlag, WordsOfOthersAreKnown) {
  std::vector<std::string> types = {"f32", "bf16"},
                           schedules = {"1f1b", "interleaved-1f1b", "zb-v", "dualpipe-v"};
  EXPECT_EQ(suggestWord("bfloat16", types), "; did you mean bf16?");
  EXPECT_EQ(suggestWord("torch.bfloat16", types), "; did you mean bf16?");
  EXPECT_EQ(suggestWord("BF16", types), "; did you mean bf16?");
  EXPECT_EQ(suggestWord("fp32", types), "; did you mean f32?");
  EXPECT_EQ(suggestWord("float16", types), "; did you mean bf16?");
  EXPECT_EQ(suggestWord("float16", {"f32", "bf16", "f16"}), "; did you mean f16?");
  EXPECT_EQ(suggestWord("Interleaved1F1B", schedules), "; did you mean interleaved-1f1b?");
  EXPECT_EQ(suggestWord("ZBVZeroBubble", schedules), "; did you mean zb-v?");
  EXPECT_EQ(suggestWord("DualPipeV", schedules), "; did you mean dualpipe-v?");
  EXPECT_EQ(suggestWord("interleaved-1fb1", schedules), "; did you mean interleaved-1f1b?");
  for (const char *word : {"f64", "f8", "float128", "gpipe", ""})
    EXPECT_EQ(suggestWord(word, types), "") << word;
}

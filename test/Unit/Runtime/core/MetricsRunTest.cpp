// What par-run says of its steps while it lasts: lines, the bar, metrics as JSON and CSV, into files and
// pipes.
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "core/MetricsLines.h"
#include "core/ProgressLines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

using namespace par::test;
using nlohmann::json;

namespace {

class MetricsRun : public testing::Test {
protected:
  void SetUp() override {
    json manifest = tinyManifest(2, 1);
    addEvaluation(manifest);
    writePackage(folder / "a.par", manifest);
    std::string data;
    for (int i = 0; i < 9 * (TINY_SEQ + 1); ++i)
      data += char(i * i % TINY_VOCAB);
    writeText(folder / "data", data);
  }
  std::string run(const std::string &arguments, const std::string &before = "") {
    RunResult result = runShell(before + PAR_RUN + " " + (folder / "a.par") + " " + arguments);
    EXPECT_EQ(result.exitCode, 0) << result.output;
    return result.output;
  }
  std::string evaluates() const { return " --eval-data " + (folder / "data") + " --eval-every 2 "; }

  TemporaryFolder folder;
};

/// Cells of the rows of a CSV file.
std::vector<std::vector<std::string>> rowsOf(const std::string &path) {
  std::vector<std::vector<std::string>> rows;
  std::stringstream lines(readText(path));
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back(1);
    for (char c : line)
      if (c == ',')
        rows.back().emplace_back();
      else
        rows.back().back() += c;
  }
  return rows;
}

} // namespace

TEST_F(MetricsRun, LogEverySaysWhichStepsHaveLines) {
  std::string output = run("--steps 10 --log-every 4 --checkpoint " + (folder / "c"));
  for (int step = 1; step <= 10; ++step)
    EXPECT_EQ(count(output, "step " + std::to_string(step) + "/10  loss"), step % 4 == 0 || step == 10)
        << output;
  int tokens = 4 * TINY_BATCH * TINY_SEQ;
  EXPECT_EQ(count(output, " tokens/s  " + std::to_string(tokens) + " tokens  0:00 elapsed, 0:0"), 1)
      << output;
  // A resumed run counts on.
  output = run("--steps 13 --log-every 4 --resume latest --checkpoint " + (folder / "c"));
  EXPECT_EQ(count(output, "  loss "), 2) << output;
  EXPECT_EQ(count(output, "step 12/13"), 1) << output;
  EXPECT_EQ(count(output, " " + std::to_string(3 * tokens) + " tokens  "), 1) << output;
}

TEST_F(MetricsRun, EveryEvaluationHasItsPerplexity) {
  std::string output = run("--steps 2 --metrics " + (folder / "m") + evaluates());
  json line = metricsOf(folder / "m").back();
  double loss = line["eval_loss"];
  EXPECT_NEAR(line["eval_perplexity"], std::exp(loss), 1e-4 * std::exp(loss));
  EXPECT_EQ(count(output, "  perplexity "), 1) << output;
}

TEST_F(MetricsRun, ABarOnATerminalOnly) {
  std::string command = std::string(PAR_RUN) + " " + (folder / "a.par") + " --steps 300";
  auto onTerminal = [&](const std::string &more, const std::string &terminal) {
    return runShell("TERM=" + terminal + " script -qec '" + command + more + "' /dev/null").output;
  };
  std::string output = onTerminal("", "xterm");
  if (output.find("script: not found") != std::string::npos)
    GTEST_SKIP() << "no pseudo-terminal here";
  EXPECT_NE(output.find("\rstep "), std::string::npos) << output;
  EXPECT_NE(output.find("\r\033[Kstep 300/300  loss"), std::string::npos) << output; // it ends with a line
  for (const std::string &without :
       {onTerminal(" --log-every 100", "xterm"), onTerminal("", "dumb"), run("--steps 300")})
    EXPECT_EQ(without.find("\033[K"), std::string::npos) << without;
}

TEST_F(MetricsRun, CsvByName) {
  std::string flags = evaluates() + "--lr 0.5 --checkpoint-every 3 --metrics ";
  run("--steps 6" + flags + (folder / "m.jsonl") + " --checkpoint " + (folder / "c"));
  run("--steps 6" + flags + (folder / "m.csv") + " --checkpoint " + (folder / "d"));
  std::vector<std::vector<std::string>> rows = rowsOf(folder / "m.csv");
  std::vector<json> lines = metricsOf(folder / "m.jsonl");
  ASSERT_EQ(rows.size(), lines.size() + 1);
  std::vector<std::string> names = rows[0];
  for (size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(rows[i + 1].size(), names.size()) << i;
    for (size_t column = 0; column < names.size(); ++column) {
      const std::string &name = names[column], &cell = rows[i + 1][column];
      ASSERT_EQ(cell.empty(), !lines[i].contains(name)) << name << " of line " << i + 1;
      if (!cell.empty() && name.find("second") == std::string::npos && name != "sent_bytes") {
        EXPECT_EQ(std::stod(cell), lines[i][name].get<double>()) << name << " of line " << i + 1;
      }
    }
  }
  // Rows up to the step that is resumed stay, and each step has one.
  std::string whole = readText(folder / "m.csv");
  std::filesystem::remove_all(folder / "d/step-00000006");
  run("--steps 6" + flags + (folder / "m.csv") + " --resume latest --checkpoint " + (folder / "d"));
  std::vector<std::vector<std::string>> resumed = rowsOf(folder / "m.csv");
  ASSERT_EQ(resumed.size(), rows.size());
  EXPECT_EQ(resumed[0], names);
  for (size_t i = 1; i < rows.size(); ++i)
    EXPECT_EQ(std::vector(rows[i].begin(), rows[i].begin() + 5),
              std::vector(resumed[i].begin(), resumed[i].begin() + 5));
}

/// A run that goes on keeps what its log says; what is no log of it stays as it was.
TEST_F(MetricsRun, AFileThatIsNoLogIsLeftAloneByARunThatGoesOn) {
  run("--steps 3 --metrics " + (folder / "log.json") + " --checkpoint " + (folder / "c"));
  run("--steps 3 --metrics " + (folder / "log.csv"));
  std::filesystem::copy_file(folder / "log.json", folder / "json.csv");
  std::filesystem::copy_file(folder / "log.csv", folder / "csv.json");
  writeText(folder / "notes.csv", "my notes\nare here\n");
  writeText(folder / "data.csv", "1,2\n3,4\n");
  writeText(folder / "open.json", "notes");
  for (const auto &[name, line] :
       {std::pair("json.csv", 1), std::pair("csv.json", 1), std::pair("notes.csv", 1),
        std::pair("data.csv", 1), std::pair("open.json", 1)}) {
    std::string before = readText(folder / name);
    RunResult result =
        runShell(PAR_RUN " " + (folder / "a.par") + " --steps 5 --resume latest --checkpoint " +
                 (folder / "c") + " --metrics " + (folder / name));
    EXPECT_EQ(result.exitCode, 1) << name;
    EXPECT_NE(result.output.find("error: --metrics " + (folder / name) + ": line " + std::to_string(line) +
                                 " is none that a run writes as "),
              std::string::npos)
        << result.output;
    EXPECT_EQ(readText(folder / name), before);
  }
  // What a crash leaves is the beginning of a line.
  writeText(folder / "log.json", readText(folder / "log.json") + "{\"ste");
  writeText(folder / "cut.json", "{\"step\":1,\"lo");
  run("--steps 4 --resume latest --checkpoint " + (folder / "c") + " --metrics " + (folder / "log.json"));
  EXPECT_EQ(metricsOf(folder / "log.json").size(), 4u);
  std::filesystem::remove_all(folder / "c/step-00000004");
  run("--steps 4 --resume latest --checkpoint " + (folder / "c") + " --metrics " + (folder / "cut.json"));
  EXPECT_EQ(metricsOf(folder / "cut.json").size(), 1u);
}

TEST_F(MetricsRun, ADeviceThatIsFullIsNoReaderThatIsAway) {
  for (const char *steps : {"1", "3"}) {
    RunResult result =
        runShell(PAR_RUN " " + (folder / "a.par") + " --steps " + steps + " --metrics /dev/full");
    EXPECT_EQ(result.exitCode, 1) << result.output;
    EXPECT_NE(result.output.find("error: /dev/full: cannot be written: No space left on device"),
              std::string::npos)
        << result.output;
  }
}

TEST_F(MetricsRun, AnEvaluationOfNothingIsRefused) {
  writeText(folder / "ends", std::string(9 * (TINY_SEQ + 1), 1)); // every token begins a document
  RunResult result =
      runShell(PAR_RUN " " + (folder / "a.par") + " --steps 2 --documents mask --document-end 1 --data " +
               (folder / "data") + " --eval-data " + (folder / "ends"));
  EXPECT_EQ(result.exitCode, 1) << result.output;
  EXPECT_EQ(count(result.output, "error: --eval-data " + (folder / "ends") + ": no token is a target"), 1)
      << result.output;
  EXPECT_EQ(count(result.output, "step 1/2"), 0) << result.output;
}

TEST_F(MetricsRun, IntoAPipe) {
  std::string pipe = folder / "pipe";
  run("--steps 40 --metrics " + pipe + evaluates(),
      "mkfifo " + pipe + " && { cat " + pipe + " > " + (folder / "read") + " & } && ");
  for (int tries = 0; tries < 100 && count(readText(folder / "read"), "\n") < 60; ++tries)
    runShell("sleep 0.05"); // cat may be behind
  EXPECT_EQ(metricsOf(folder / "read").size(), 60u);
  EXPECT_EQ(metricsOf(folder / "read").back()["step"], 40);
  // Of a run that goes on: its own lines, as nothing that went through a pipe can be looked at again.
  run("--steps 3 --checkpoint " + (folder / "c"));
  run("--steps 5 --resume latest --checkpoint " + (folder / "c") + " --metrics " + pipe,
      "{ cat " + pipe + " > " + (folder / "rest") + " & } && ");
  for (int tries = 0; tries < 100 && count(readText(folder / "rest"), "\n") < 2; ++tries)
    runShell("sleep 0.05");
  ASSERT_EQ(metricsOf(folder / "rest").size(), 2u);
  EXPECT_EQ(metricsOf(folder / "rest")[0]["step"], 4);
  // To standard output, whatever that is.
  std::string output = run("--steps 2 --metrics /dev/stdout");
  EXPECT_EQ(count(output, "{\"step\":"), 2) << output;
  run("--steps 2 --metrics /dev/stdout > " + (folder / "log"));
  EXPECT_EQ(count(readText(folder / "log"), "{\"step\":"), 2);
  EXPECT_EQ(count(readText(folder / "log"), "transport local"), 1);
}

TEST_F(MetricsRun, NobodyReads) {
  std::string pipe = folder / "pipe";
  RunResult result =
      runShell("mkfifo " + pipe + " && " PAR_RUN " " + (folder / "a.par") + " --steps 2 --metrics " + pipe);
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(result.output, "error: " + pipe + ": nobody reads it; start its reader before the run\n");
  // One that goes away, and one that stays but reads no further.
  std::string output =
      run("--steps 400 --metrics " + pipe, "{ head -n 3 " + pipe + " > " + (folder / "read") + " & } && ");
  EXPECT_EQ(metricsOf(folder / "read").size(), 3u);
  EXPECT_NE(output.find("lines were left out, as nobody read them"), std::string::npos) << output;
  output = run("--steps 900 --metrics " + pipe, "{ (read line; echo \"$line\"; sleep 5) < " + pipe + " > " +
                                                    (folder / "read") + " 2>&1 & } && ");
  EXPECT_NE(output.find("lines were left out, as nobody read them"), std::string::npos) << output;
  EXPECT_NE(output.find("step 900/900"), std::string::npos) << output;
}

TEST(Progress, DurationsAndBars) {
  using namespace par::rt;
  EXPECT_EQ(formatDuration(7.9), "0:07");
  EXPECT_EQ(formatDuration(3599), "59:59");
  EXPECT_EQ(formatDuration(100 * 3600 + 62), "100:01:02");
  auto bar = [](double share, int columns) {
    std::string line;
    appendBar(share, columns, line);
    return line;
  };
  EXPECT_EQ(bar(0.5, 10), "[####----]");
  EXPECT_EQ(bar(1, 200).size(), 32u);
  EXPECT_EQ(bar(0.5, 5), "");
}

TEST(Progress, LinesAreFewWhereNobodyWatches) {
  using namespace std::chrono_literals;
  par::rt::ProgressRhythm lines{/*first=*/10, /*every=*/0, /*showsBar=*/false}, bar{10, 0, true},
      every{10, 3, true};
  EXPECT_TRUE(lines.isDue(11, false, 0s));
  EXPECT_FALSE(lines.isDue(12, false, 4999ms));
  EXPECT_TRUE(lines.isDue(12, false, 5s));
  EXPECT_TRUE(lines.isDue(12, true, 0s));
  EXPECT_FALSE(bar.isDue(12, false, 99ms));
  EXPECT_TRUE(bar.isDue(12, false, 100ms));
  EXPECT_TRUE(every.isDue(12, false, 0s));
  EXPECT_FALSE(every.isDue(13, false, 1h));
  EXPECT_TRUE(every.isDue(13, true, 0s));
}

TEST(Metrics, FormatsByName) {
  using namespace par::rt;
  for (const char *name : {"m.csv", "m.CSV", "a/.csv", "m.json.Csv"})
    EXPECT_EQ(metricsFormatOf(name), MetricsFormat::csv) << name;
  for (const char *name : {".csv", "csv", "m.jsonl", "m.csv.jsonl", ""})
    EXPECT_EQ(metricsFormatOf(name), MetricsFormat::json) << name;
}

TEST(Metrics, NumbersThatAreNotFinite) {
  using namespace par::rt;
  EvaluationReport report{7, double(NAN), 3};
  EXPECT_EQ(metricsLine(MetricsFormat::json, report),
            "{\"step\":7,\"eval_loss\":\"nan\",\"eval_tokens\":3,\"eval_perplexity\":\"nan\"}");
  report.loss = 1e6;
  EXPECT_EQ(metricsLine(MetricsFormat::csv, report), "7,,,,,,,,,1e+06,3,inf");
}

/// A program that reads no tokens takes no data, and what is counted are rows; its loss is a mean over them.
TEST_F(MetricsRun, WithoutTokensRowsAreCounted) {
  json manifest = tinyManifest(2, 1);
  json &program = manifest["programs"][0];
  json inputs = json::array();
  for (const json &input : program["inputs"])
    if (input["name"] != "tokens" && input["name"] != "targets")
      inputs.push_back(input);
  program["inputs"] = inputs;
  for (int offset : {TINY_TOKENS, TINY_TARGETS})
    program["constants"].push_back({{"dtype", "i32"}, {"offset", offset}, {"value", 1}, {"count", 64}});
  manifest["seq"] = 0;
  manifest["model"].erase("vocab");
  writePackage(folder / "a.par", manifest);
  std::string log = folder / "m.jsonl", kept = " --checkpoint " + (folder / "c");
  std::string output = run("--steps 3 --metrics " + log + kept) + run("--steps 4 --resume latest" + kept);
  EXPECT_NE(output.find("batch 8 rows\n"), std::string::npos) << output;
  EXPECT_NE(output.find(" rows/s  32 rows  "), std::string::npos) << output;
  EXPECT_EQ(output.find("tokens"), std::string::npos) << output;
  std::vector<json> lines = metricsOf(log);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1]["rows"], 2 * TINY_BATCH);
  EXPECT_TRUE(lines[1].contains("rows_per_second") && !lines[1].contains("tokens"));
  for (const char *flag : {"--data random", "--shuffle", "--metrics m.csv"}) {
    RunResult result = runShell(std::string(PAR_RUN) + " " + (folder / "a.par") + " --steps 1 " + flag);
    EXPECT_EQ(result.exitCode, 1) << flag;
    EXPECT_NE(result.output.find("reads no tokens"), std::string::npos) << result.output;
  }
}

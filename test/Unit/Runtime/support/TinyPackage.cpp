#include "TinyPackage.h"

#include "TinyProgram.h"
#include "comm/process/Socket.h"
#include "par/io/Safetensors.h"
#include "par/io/Sha256.h"
#include "par/runtime.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace par::test {

namespace fs = std::filesystem;
using nlohmann::json;

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "par-runtime-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw std::runtime_error("no temporary folder");
  path = name;
}

TemporaryFolder::~TemporaryFolder() { fs::remove_all(path); }

std::vector<std::string> TemporaryFolder::files() const {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(path))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void writeText(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary).write(content.data(), std::streamsize(content.size()));
}

std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void writeHashed(const std::string &path, json value) {
  value["sha256"] = std::string(64, '0');
  std::string text = value.dump();
  size_t at = text.find("\"" + std::string(64, '0') + "\"");
  writeText(path, text.replace(at + 1, 64, io::sha256(text)));
}

static json tokenInput(const char *name, int offset, int localRows) {
  return {{"name", name},
          {"dtype", "i32"},
          {"shape", {TINY_ROWS, TINY_SEQ}},
          {"sharding", json::array({json::array({"dp"}), json::array()})},
          {"local_shape", {localRows, TINY_SEQ}},
          {"offsets", {offset, offset + 128}}};
}

static json scalar(const char *name, const char *dtype, std::vector<int> offsets) {
  return {{"name", name},
          {"dtype", dtype},
          {"shape", json::array()},
          {"sharding", json::array()},
          {"local_shape", json::array()},
          {"offsets", offsets}};
}

static json tinyInputs(int localRows) {
  json key = scalar("dropout_key", "i32", {TINY_KEY});
  key["shape"] = key["local_shape"] = {2};
  key["sharding"] = json::array({json::array()});
  return {tokenInput("tokens", TINY_TOKENS, localRows),
          tokenInput("targets", TINY_TARGETS, localRows),
          scalar("lr", "f32", {TINY_LR}),
          scalar("loss_scale", "f32", {TINY_LOSS_SCALE}),
          scalar("step", "i32", {TINY_STEP}),
          scalar("micro_batch", "i32", {TINY_MICRO_BATCH, TINY_MICRO_BATCH + 4}),
          key};
}

static json tinyCollective(std::vector<std::string> axes, int count, bool started) {
  return {{"kind", "all_reduce"},
          {"axes", axes},
          {"op", "sum"},
          {"dtype", "f32"},
          {"counts", {count}},
          {"root", 0},
          {"permutation", json::array()},
          {"cause", "test"},
          {"started", started},
          {"times", 1}};
}

static json tinyVariable(const char *name, const char *role, int offset, int localVocab) {
  return {{"name", name},
          {"role", role},
          {"dtype", "f32"},
          {"offset", offset},
          {"shape", {TINY_VOCAB, 3}},
          {"sharding", json::array({json::array({"tp"}), json::array()})},
          {"local_shape", {localVocab, 3}},
          {"of", nullptr}};
}

json tinyManifest(int dp, int tp, bool started) {
  int localVocab = (TINY_VOCAB + tp - 1) / tp, localRows = TINY_ROWS / dp;
  json w = tinyVariable("w", "parameter", TINY_W, localVocab);
  w["init"] = {{"kind", "normal"}, {"std", 0.02}};
  w["file"] = {{"name", "transformer.wte.weight"}, {"shape", {3, TINY_VOCAB}}, {"permutation", {1, 0}}};
  json gradient = tinyVariable("w.gradient", "gradient", TINY_GRADIENT, localVocab);
  gradient["of"] = "w";
  json actions = json::array();
  for (int m = 0; m < TINY_MICRO_BATCHES; ++m)
    actions.push_back({{"name", "forward"}, {"chunk", 0}, {"micro_batch", m}});
  actions.push_back({{"name", "reduce"}, {"chunk", 0}, {"micro_batch", -1}});
  actions.push_back({{"name", "update"}, {"chunk", 0}, {"micro_batch", -1}});
  json program = {
      {"file", "program0.so"},
      {"ranks", json::object()},
      {"arena_bytes", TINY_ARENA},
      {"schedules", {{{"name", "train"}, {"function", "par_schedule_train"}, {"arena_bytes", TINY_ARENA}}}},
      {"inputs", tinyInputs(localRows)},
      {"constants",
       {{{"dtype", "i32"}, {"offset", TINY_LOCAL_ROWS}, {"value", localRows}},
        {{"dtype", "i32"}, {"offset", TINY_LOCAL_VOCAB}, {"value", localVocab}},
        {{"dtype", "f32"}, {"offset", TINY_FACTOR}, {"value", 1.0}},
        {{"dtype", "i32"}, {"offset", TINY_STARTED}, {"value", int(started)}}}},
      {"outputs", {scalar("loss", "f32", {TINY_LOSS}), scalar("grad_norm", "f32", {TINY_NORM})}},
      {"variables", json::array({w, gradient})},
      {"actions", actions},
      {"work", json::array()},
      {"collectives",
       {tinyCollective({"dp"}, localVocab * 3, started), tinyCollective({"dp", "tp"}, 1, started),
        tinyCollective({"tp"}, 1, false)}}};
  return {{"format_version", 6},
          {"abi_version", PAR_ABI_VERSION},
          {"fingerprint", std::string(64, '0')},
          {"files", json::object()},
          {"cpu_features", {"sse2"}},
          {"target", "cpu"},
          {"model",
           {{"model_type", "tiny"},
            {"vocab", TINY_VOCAB},
            {"parameters", TINY_VOCAB * 3},
            {"causal", true},
            {"numbers", {{"columns", 3}, {"scale", 1.5}}}}},
          {"seq", TINY_SEQ},
          {"batch", TINY_BATCH},
          {"micro_batches", TINY_MICRO_BATCHES},
          {"optimizer", "sgd"},
          {"dtype", "f32"},
          {"world_size", dp * tp},
          {"mesh", json::array({json::array({"dp", dp}), json::array({"tp", tp})})},
          {"axes", json::array({{{"name", "dp"}, {"size", dp}, {"of", "dp"}},
                                {{"name", "tp"}, {"size", tp}, {"of", "tp"}}})},
          {"programs", json::array({program})}};
}

/// Table and gradient of a stage, from those of the tiny model.
static json stageVariables(const json &tiny, int stage) {
  std::string name = "w" + std::to_string(stage);
  json w = tiny[0], gradient = tiny[1];
  w["name"] = gradient["of"] = name;
  w["file"]["name"] = "stage" + std::to_string(stage) + ".weight";
  gradient["name"] = name + ".gradient";
  return {w, gradient};
}

static json stagedManifest(int dp, int tp, int stages) {
  json manifest = tinyManifest(dp, tp);
  manifest["model"]["parameters"] = stages * TINY_VOCAB * 3;
  return manifest;
}

json tinyStages(int dp, int tp, int stages) {
  json manifest = stagedManifest(dp, tp, stages), tiny = manifest["programs"][0];
  manifest["mesh"].push_back(json::array({"pp", stages}));
  manifest["axes"].push_back({{"name", "pp"}, {"size", stages}, {"of", "pp"}});
  manifest["world_size"] = dp * tp * stages;
  manifest["programs"] = json::array();
  for (int stage = 0; stage < stages; ++stage) {
    json program = tiny;
    program["ranks"] = {{"pp", json::array({stage})}};
    program["variables"] = stageVariables(tiny["variables"], stage);
    if (stage + 1 < stages)
      program["outputs"] = json::array();
    manifest["programs"].push_back(program);
  }
  return manifest;
}

json tinyWhole(int dp, int tp, int stages) {
  json manifest = stagedManifest(dp, tp, stages);
  json &program = manifest["programs"][0];
  json tiny = program["variables"];
  program["variables"] = json::array();
  for (int stage = 0; stage < stages; ++stage)
    for (json variable : stageVariables(tiny, stage)) {
      variable["offset"] = variable["offset"].get<int>() + stage * TINY_ARENA;
      program["variables"].push_back(variable);
    }
  program["arena_bytes"] = program["schedules"][0]["arena_bytes"] = stages * TINY_ARENA;
  return manifest;
}

void addEvaluation(json &manifest) {
  for (json &program : manifest["programs"]) {
    program["schedules"].push_back(
        {{"name", "eval"}, {"function", "par_schedule_eval"}, {"arena_bytes", program["arena_bytes"]}});
    for (int m = 0; m < TINY_MICRO_BATCHES; ++m)
      program["actions"].push_back({{"name", "eval"}, {"chunk", 0}, {"micro_batch", m}});
  }
  manifest["programs"].back()["outputs"].push_back(
      scalar("eval_loss", "f32", {TINY_EVAL_LOSS, TINY_EVAL_LOSS + 4}));
}

/// The program with what it says of its manifest.
static std::string programFor(json manifest, const std::string &path) {
  manifest["files"] = json::object();
  std::string program = readText(path);
  size_t at = program.find(TINY_MANIFEST_HASH);
  if (at == std::string::npos)
    throw std::runtime_error("the program has no par_manifest");
  return program.replace(at, 64, io::sha256(manifest.dump()));
}

void writePackage(const std::string &folder, json manifest, const std::string &program) {
  fs::create_directories(folder);
  std::vector<std::string> files = {"rank"};
  for (const json &program : manifest["programs"])
    files.push_back(program["file"]);
  for (size_t i = 1; i < files.size(); ++i)
    writeText(folder + "/" + files[i], programFor(manifest, program));
  fs::copy_file(PAR_RUN, folder + "/rank", fs::copy_options::overwrite_existing);
  for (const std::string &name : files)
    if (!manifest["files"].contains(name))
      manifest["files"][name] = io::sha256(readText(folder + "/" + name));
  std::string text = manifest.dump();
  size_t at = text.find("\"" + std::string(64, '0') + "\"");
  text.replace(at + 1, 64, io::sha256(text));
  writeText(folder + "/manifest.json", text);
}

int count(const std::string &text, const std::string &part) {
  int times = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++times;
  return times;
}

int freePort() {
  // Below the ports that outgoing connections take (32768 and on): one of those could be taken by the time
  // that it is listened on.
  constexpr int first = 15000, count = 17000;
  static int next = int(getpid() * 37L % count);
  for (int tried = 0; tried < count; ++tried) {
    int port = first + next++ % count;
    std::vector<comm::Address> loopback;
    comm::Listener listener;
    if (comm::resolve("127.0.0.1", port, loopback).ok() && listener.bind(loopback, port).ok())
      return port;
  }
  return 0;
}

RunResult runShell(const std::string &command) {
  auto begin = std::chrono::steady_clock::now();
  // Of all tests here: what is read before it is written is NaN.
  std::FILE *pipe = popen(("export PAR_POISON=1; ( " + command + " ) 2>&1").c_str(), "r");
  RunResult result{-1, "", 0};
  char buffer[4096];
  for (size_t got; (got = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    result.output.append(buffer, got);
  int status = pclose(pipe);
  result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

RunResult parRun(const std::string &arguments, const std::string &environment) {
  return runShell(environment + " " PAR_RUN " " + arguments);
}

std::vector<json> metricsOf(const std::string &path) {
  std::vector<json> lines;
  std::stringstream text(readText(path));
  for (std::string line; std::getline(text, line);)
    lines.push_back(json::parse(line));
  return lines;
}

std::map<std::string, std::vector<float>> tensorsOf(const std::string &path) {
  io::SafetensorsReader reader;
  io::Status status = reader.open(path);
  if (!status.ok())
    throw std::runtime_error(status.message());
  std::map<std::string, std::vector<float>> tensors;
  for (const io::SafetensorsEntry &entry : reader.entries()) {
    std::vector<float> values(size_t(io::elementCount(entry.shape)));
    reader.read(entry, 0, 1, int64_t(values.size()), values.data());
    tensors[entry.name] = values;
  }
  return tensors;
}

TinyReference tinyReference(const std::string &data, int steps, double lr, std::vector<double> parameters) {
  TinyReference reference;
  reference.parameters = std::move(parameters);
  size_t windows = data.size() / (TINY_SEQ + 1);
  for (int step = 0; step < steps; ++step) {
    double loss = 0, squares = 0;
    reference.gradient.assign(3 * TINY_VOCAB, 0.0);
    for (int row = 0; row < TINY_BATCH; ++row)
      for (int i = 0; i < TINY_SEQ; ++i) {
        size_t window = size_t(step * TINY_BATCH + row) % windows;
        int token = data[window * (TINY_SEQ + 1) + size_t(i)];
        for (int c = 0; c < 3; ++c) { // file layout [3, vocab]
          reference.gradient[size_t(c * TINY_VOCAB + token)] += (c + 1) / double(TINY_BATCH * TINY_SEQ);
          loss += (c + 1) * reference.parameters[size_t(c * TINY_VOCAB + token)] / (TINY_BATCH * TINY_SEQ);
        }
      }
    for (size_t i = 0; i < reference.gradient.size(); ++i) {
      squares += reference.gradient[i] * reference.gradient[i];
      reference.parameters[i] -= lr * reference.gradient[i];
    }
    reference.loss.push_back(loss);
    reference.norm.push_back(std::sqrt(squares));
  }
  return reference;
}

} // namespace par::test

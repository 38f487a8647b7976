#include "core/Manifest.h"

#include "core/Error.h"
#include "core/ManifestFiles.h"
#include "core/Topology.h"
#include "cuda/ReadWork.h"
#include "io/JsonNode.h"
#include "par/io/JsonText.h"

#include <algorithm>
#include <cctype>
#include <functional>

namespace par::rt {

using Json = nlohmann::json;
using Node = io::JsonNode;

static int axisNumber(const std::vector<Axis> &axes, const std::string &name, const Node &node) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == name)
      return int(i);
  node.fail("names the axis \"" + name + "\", which the manifest does not have");
}

static std::vector<int> axisNumbers(const std::vector<Axis> &axes, const Node &node) {
  std::vector<int> numbers;
  for (const Node &item : node.items())
    numbers.push_back(axisNumber(axes, item.text(), item));
  return numbers;
}

static Sharding parseSharding(const std::vector<Axis> &axes, const Node &node) {
  Sharding sharding;
  for (const Node &dimension : node.items())
    sharding.push_back(axisNumbers(axes, dimension));
  return sharding;
}

static constexpr const char *elementNames[] = {"f32", "i32", "bf16", "i64", "i1"};

const char *nameOf(ElementType type) { return elementNames[int(type)]; }

static ElementType parseType(const Node &node, bool isOpenInput = false) {
  std::string text = node.text();
  for (ElementType type :
       {ElementType::f32, ElementType::i32, ElementType::bf16, ElementType::i64, ElementType::i1})
    if (text == nameOf(type) && (isOpenInput || type <= ElementType::bf16))
      return type;
  node.fail("is \"" + text + "\", but this runtime knows f32, bf16 and i32 here");
}

static Role parseRole(const Node &node) {
  static const char *const names[] = {"parameter", "accumulator", "gradient", "moment", "master", "step"};
  std::string text = node.text();
  for (int i = 0; i < 6; ++i)
    if (text == names[i])
      return Role(i);
  node.fail("is \"" + text + "\", which is no role of a variable");
}

static ProgramTensor parseTensor(const std::vector<Axis> &axes, const Node &node) {
  ProgramTensor tensor;
  tensor.name = node["name"].text();
  if (node.has("reader")) {
    tensor.reader = node["reader"].text(), tensor.time = node["time"].text();
    if (tensor.time != "step" && tensor.time != "micro_batch")
      node["time"].fail("is \"" + tensor.time + "\", expected step or micro_batch");
  }
  tensor.type = parseType(node["dtype"], !tensor.reader.empty());
  tensor.shape = node["shape"].integers();
  tensor.sharding = parseSharding(axes, node["sharding"]);
  tensor.local = node["local_shape"].integers();
  tensor.offsets = node["offsets"].integers();
  return tensor;
}

static Initial parseInit(const Node &node) {
  Initial init;
  std::string kind = node["kind"].text();
  if (kind == "ones")
    init.kind = InitKind::ones;
  else if (kind == "normal")
    init.kind = InitKind::normal, init.std = node["std"].number();
  else if (kind != "zeros")
    node["kind"].fail("is \"" + kind + "\", expected normal, zeros or ones");
  if (node.has("zero_row"))
    init.zeroRow = node["zero_row"].integer();
  return init;
}

static Variable parseVariable(const std::vector<Axis> &axes, const Node &node) {
  Variable variable;
  variable.name = node["name"].text();
  variable.role = parseRole(node["role"]);
  variable.isTrained = node.boolean("trained", true);
  variable.type = parseType(node["dtype"]);
  variable.offset = node["offset"].integer();
  if (node.has("space")) {
    std::string space = node["space"].text();
    if (space != "host" && space != "device")
      node["space"].fail("is \"" + space + "\", expected host or device");
    variable.onHost = space == "host";
  }
  variable.shape = node["shape"].integers(1);
  variable.sharding = parseSharding(axes, node["sharding"]);
  variable.local = node["local_shape"].integers(1);
  if (node.has("init"))
    variable.init = parseInit(node["init"]);
  variable.hasFile = node.has("file");
  if (variable.hasFile)
    variable.file = parseFile(node["file"], variable.shape);
  else if (variable.role == Role::parameter)
    variable.file = io::wholePlace(variable.name, variable.shape);
  if (node.has("of"))
    variable.of = node["of"].text();
  return variable;
}

static Members parseMembers(const std::vector<Axis> &axes, const Node &node) {
  Members members;
  if (node.has("axes") == node.has("groups"))
    node.fail("has " + std::string(node.has("axes") ? "both \"axes\" and" : "neither \"axes\" nor") +
              " \"groups\", expected one of them");
  if (node.has("axes"))
    members.axes = axisNumbers(axes, node["axes"]);
  else
    for (const Node &group : node["groups"].items()) {
      members.groups.emplace_back();
      for (const Node &rank : group.items())
        members.groups.back().push_back(int(rank.integer(0, INT32_MAX)));
    }
  if (node.has("channel"))
    members.channel = int(node["channel"].integer(0, INT32_MAX));
  return members;
}

static ManifestCollective parseCollective(const std::vector<Axis> &axes, const Node &node) {
  ManifestCollective collective;
  std::string kind = node["kind"].text(), op = node.has("op") ? node["op"].text() : "sum",
              type = node["dtype"].text();
  if (!comm::parseKind(kind, collective.what.kind))
    node["kind"].fail("is \"" + kind + "\", which is no collective of this runtime");
  if (!op.empty() && !comm::parseOp(op, collective.what.op))
    node["op"].fail("is \"" + op + "\", expected sum, max or min");
  if (!comm::parseType(type, collective.what.type))
    node["dtype"].fail("is \"" + type + "\", expected f32, bf16, i32, i64 or i1");
  collective.members = parseMembers(axes, node);
  collective.what.counts = node["counts"].integers();
  collective.what.root = node.has("root") ? int(node["root"].integer(0, INT32_MAX)) : 0;
  if (node.has("permutation"))
    for (const Node &item : node["permutation"].items())
      collective.what.permutation.push_back(int(item.integer(-1, INT32_MAX)));
  collective.started = node.has("started") && node["started"].boolean();
  collective.times = node.has("times") ? node["times"].integer() : 0;
  return collective;
}

static ManifestMessage parseMessage(const Node &node) {
  std::string kind = node["kind"].text();
  if (kind != "send" && kind != "receive")
    node["kind"].fail("is \"" + kind + "\", expected send or receive");
  return {kind == "send", int(node["stage"].integer(0, INT32_MAX)), node["bytes"].integers(),
          node["what"].text(), node["times"].integer()};
}

static RankSet parseRanks(const std::vector<Axis> &axes, const Node &node) {
  RankSet ranks;
  for (const auto &[name, coordinates] : node.byName()) {
    int axis = axisNumber(axes, name, coordinates);
    for (const Node &item : coordinates.items())
      ranks[axis].push_back(int(item.integer(0, axes[size_t(axis)].size - 1)));
    if (ranks[axis].empty() || std::adjacent_find(ranks[axis].begin(), ranks[axis].end(),
                                                  std::greater_equal<int>()) != ranks[axis].end())
      coordinates.fail("is empty or not in ascending order");
  }
  return ranks;
}

static Program parseProgram(const std::vector<Axis> &axes, const Node &node) {
  Program program;
  program.file = node["file"].text();
  program.ranks = parseRanks(axes, node["ranks"]);
  program.arenaBytes = node["arena_bytes"].integer();
  program.hostArenaBytes = node.has("host_arena_bytes") ? node["host_arena_bytes"].integer() : 0;
  program.transfers = node.has("transfers_started") && node["transfers_started"].boolean();
  for (const Node &item : node["inputs"].items())
    program.inputs.push_back(parseTensor(axes, item));
  for (const Node &item : node["constants"].items())
    program.constants.push_back({parseType(item["dtype"]), item["offset"].integer(),
                                 item.has("count") ? item["count"].integer() : 1, item["value"].number(),
                                 item.has("step") ? item["step"].integer() : 0});
  for (const Node &item : node["outputs"].items())
    program.outputs.push_back(parseTensor(axes, item));
  for (const Node &item : node["schedules"].items())
    program.schedules.push_back(
        {item["name"].text(), item["function"].text(), item["arena_bytes"].integer()});
  for (const Node &item : node["variables"].items())
    program.variables.push_back(parseVariable(axes, item));
  for (const Node &item : node["actions"].items())
    program.actions.push_back({item["name"].text(), int(item["chunk"].integer(0, INT32_MAX)),
                               int(item["micro_batch"].integer(-1, INT32_MAX)),
                               item.has("function") ? int(item["function"].integer(0, INT32_MAX)) : -1});
  for (const Node &item : node["collectives"].items())
    program.collectives.push_back(parseCollective(axes, item));
  if (node.has("messages"))
    for (const Node &item : node["messages"].items())
      program.messages.push_back(parseMessage(item));
  for (const Node &item : node["work"].items())
    program.work.push_back(
        {item["class"].text(), item["flops"].number(), item["bytes"].number(), item["times"].integer()});
  return program;
}

/// A gradient or master lies in files as its parameter does, and a master begins as its parameter.
static void inheritMappings(const Node &node, Program &program) {
  for (Variable &variable : program.variables) {
    if (variable.of.empty())
      continue;
    auto parameter =
        std::find_if(program.variables.begin(), program.variables.end(), [&](const Variable &other) {
          return other.name == variable.of && other.role == Role::parameter;
        });
    if (parameter == program.variables.end())
      node.fail("variable \"" + variable.name + "\" belongs to \"" + variable.of +
                "\", which is no parameter");
    if (variable.role != Role::gradient && variable.role != Role::master)
      continue;
    variable.file = parameter->file, variable.hasFile = parameter->hasFile;
    if (variable.role == Role::master)
      variable.init = parameter->init;
  }
}

static Json parseJson(const std::string &path, const std::string &text) {
  if (io::Status status = io::checkDepth(path, text); !status.ok())
    throw Error(status.message() + "; compile the package again");
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    throw Error(path + ": is no JSON object; compile the package again");
  return json;
}

/// Errors get the remedy.
template <typename Parse>
static auto parsed(const std::string &path, const std::string &text, Parse parse) {
  Json json = parseJson(path, text);
  try {
    return parse(Node(json, path));
  } catch (const io::JsonError &error) {
    throw Error(error.what() + std::string("; compile the package again"));
  }
}

ManifestHead parseHead(const std::string &path, const std::string &text) {
  return parsed(path, text, [](const Node &root) {
    return ManifestHead{root["format_version"].integer(), root["abi_version"].integer(),
                        root["fingerprint"].text()};
  });
}

static void parseMesh(const Node &root, Manifest &manifest) {
  for (const Node &item : root["mesh"].items()) {
    std::vector<Node> pair = item.items();
    if (pair.size() != 2)
      item.fail("is no [axis, size]");
    manifest.mesh.push_back({pair[0].text(), int(pair[1].integer(1, 1 << 30))});
  }
  for (const Node &item : root["axes"].items())
    manifest.axes.push_back({item["name"].text(), int(item["size"].integer(1, 1 << 30)), item["of"].text()});
  if (root.has("views"))
    for (const Node &item : root["views"].items())
      manifest.views.push_back({item["name"].text(), axisNumbers(manifest.axes, item["axes"])});
}

const ManifestSchedule *Program::findSchedule(const std::string &name) const {
  auto found = std::find_if(schedules.begin(), schedules.end(),
                            [&](const auto &schedule) { return schedule.name == name; });
  return found == schedules.end() ? nullptr : &*found;
}

int64_t Program::arenaFor(const std::string &schedule) const {
  if (const ManifestSchedule *found = findSchedule(schedule))
    return found->arenaBytes;
  int64_t least = arenaBytes;
  for (const ManifestSchedule &other : schedules)
    least = std::min(least, other.arenaBytes);
  return least;
}

const Output *Program::findOutput(const std::string &name) const {
  auto found =
      std::find_if(outputs.begin(), outputs.end(), [&](const Output &output) { return output.name == name; });
  return found == outputs.end() ? nullptr : &*found;
}

const Variable *Program::findVariable(const std::string &name) const {
  auto found = std::find_if(variables.begin(), variables.end(),
                            [&](const Variable &variable) { return variable.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

size_t Manifest::programWith(const std::string &output) const {
  auto found = std::find_if(programs.begin(), programs.end(),
                            [&](const Program &program) { return program.findOutput(output); });
  return size_t(found - programs.begin());
}

/// Takes nothing from the heap: it is asked in every step.
static int coordinateOf(const std::vector<Axis> &axes, int rank, int axis) {
  for (size_t inner = axes.size(); inner-- > size_t(axis) + 1;)
    rank /= axes[inner].size;
  return rank % axes[size_t(axis)].size;
}

static bool contains(const RankSet &ranks, const std::vector<Axis> &axes, int rank) {
  return std::all_of(ranks.begin(), ranks.end(), [&](const auto &entry) {
    return std::binary_search(entry.second.begin(), entry.second.end(),
                              coordinateOf(axes, rank, entry.first));
  });
}

size_t Manifest::programNumberOf(int rank) const {
  auto found = std::find_if(programs.begin(), programs.end(),
                            [&](const Program &program) { return contains(program.ranks, axes, rank); });
  return size_t(found - programs.begin()); // checkManifest: it is there
}

int64_t Manifest::arenaBytes(const std::string &schedule) const {
  int64_t most = 0;
  for (const Program &program : programs)
    most = std::max(most, program.arenaFor(schedule));
  return most;
}

bool Manifest::has(const std::string &schedule) const {
  return std::any_of(programs.begin(), programs.end(),
                     [&](const Program &program) { return program.findSchedule(schedule); });
}

bool Manifest::reads(const std::string &input) const {
  return std::any_of(programs.begin(), programs.end(), [&](const Program &program) {
    return std::any_of(program.inputs.begin(), program.inputs.end(),
                       [&](const Input &each) { return each.name == input; });
  });
}

io::LossWeights Manifest::lossWeights() const {
  io::LossWeights weights;
  for (const ManifestLoss &loss : losses)
    if (loss.weight)
      weights[loss.name] = *loss.weight;
  return weights;
}

int64_t Manifest::hostArenaBytes() const {
  int64_t most = 0;
  for (const Program &program : programs)
    most = std::max(most, program.hostArenaBytes);
  return most;
}

/// What several programs list under one name is one variable of the training.
static void collectVariables(Manifest &manifest) {
  std::map<std::string, size_t> owners;
  for (size_t number = 0; number < manifest.programs.size(); ++number)
    for (Variable &variable : manifest.programs[number].variables) {
      auto [owner, isFirst] = owners.try_emplace(variable.name, number);
      variable.owner = owner->second;
      if (isFirst)
        manifest.variables.push_back(variable);
    }
}

static std::vector<ManifestFunction> parseFunctions(const Node &node) {
  std::vector<ManifestFunction> functions;
  for (const Node &item : node.items()) {
    ManifestFunction &function = functions.emplace_back();
    function.work = item["work"].integer(0);
    for (const Node &call : item["calls"].items()) {
      std::vector<int64_t> pair = call.integers();
      if (pair.size() != 2 || pair[0] < 0 || pair[1] < 0)
        call.fail("is no [function, times]");
      function.calls.push_back({size_t(pair[0]), pair[1]});
    }
  }
  return functions;
}

static std::vector<ManifestLoss> parseLosses(const Node &node) {
  std::vector<ManifestLoss> losses;
  for (const Node &item : node.items()) {
    ManifestLoss &loss = losses.emplace_back(ManifestLoss{item["name"].text(), {}});
    auto isGood = [](unsigned char letter) { return std::isalnum(letter) || letter == '_' || letter == '-'; };
    if (loss.name.empty() || !std::all_of(loss.name.begin(), loss.name.end(), isGood))
      item["name"].fail("is \"" + loss.name + "\", expected letters, digits, \"_\" and \"-\"");
    if (item.has("weight"))
      loss.weight = item["weight"].number();
  }
  return losses;
}

/// Why there is no proof; empty: there is one.
static std::string parseProof(const Node &root) {
  if (!root.has("proof"))
    return "the package does not say that it is";
  const Node proof = root["proof"];
  return proof["phases"].texts().empty() ? proof["why"].text() : "";
}

static Manifest parseRoot(const Node &root) {
  Manifest manifest;
  manifest.fingerprint = root["fingerprint"].text();
  manifest.files = root["files"].textsByName();
  manifest.target = root["target"].text();
  manifest.unproved = parseProof(root);
  if (manifest.target == "cuda")
    manifest.chip = root["chip"].text(), manifest.ptx = root["ptx"].text();
  else
    manifest.cpuFeatures = root["cpu_features"].texts();
  manifest.modelType = root["model"]["model_type"].text();
  manifest.model = root["model"]["numbers"].jsonByName();
  manifest.model["model_type"] = Json(manifest.modelType).dump();
  bool saysVocab = root["model"].has("vocab");
  manifest.vocabulary = saysVocab ? uint32_t(root["model"]["vocab"].integer(1, INT32_MAX)) : INT32_MAX;
  if (root.has("losses"))
    manifest.losses = parseLosses(root["losses"]);
  manifest.parameters = root["model"]["parameters"].integer();
  manifest.causal = root["model"]["causal"].boolean();
  manifest.sequence = root["seq"].integer(0);
  manifest.batch = root["batch"].integer(1);
  manifest.microBatches = root["micro_batches"].integer(1);
  manifest.optimizer = root["optimizer"].text();
  manifest.dtype = root["dtype"].text();
  if (root.has("model_flops_per_step"))
    manifest.modelFlops = root["model_flops_per_step"].number();
  manifest.worldSize = int(root["world_size"].integer(1, 1 << 30));
  parseMesh(root, manifest);
  for (const Node &node : root["programs"].items()) {
    Program &program = manifest.programs.emplace_back(parseProgram(manifest.axes, node));
    if (!program.findSchedule("train"))
      node["schedules"].fail("lacks \"train\"");
    inheritMappings(node, program);
    if (manifest.target == "cuda")
      program.device = cuda::parseDeviceWork(node);
  }
  if (manifest.programs.empty())
    root["programs"].fail("is empty");
  if (root.has("functions"))
    manifest.functions = parseFunctions(root["functions"]);
  collectVariables(manifest);
  return manifest;
}

Manifest parseManifest(const std::string &path, const std::string &text) {
  Manifest manifest = parsed(path, text, parseRoot);
  manifest.path = path;
  return manifest;
}

} // namespace par::rt

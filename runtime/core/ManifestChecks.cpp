#include "core/Elements.h"
#include "core/Error.h"
#include "core/Manifest.h"
#include "core/Topology.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace par::rt {

int64_t coordinateCount(const std::vector<Axis> &axes, const std::vector<int> &which) {
  int64_t count = 1;
  for (int axis : which)
    count *= axes[axis].size;
  return count;
}

namespace {
class Checker {
public:
  Checker(const Manifest &manifest, const Program &program) : manifest(manifest), program(program) {}

  /// What all programs share.
  void common() const {
    mesh();
    sizes();
    ranks();
    outputs();
    replicas();
    messages();
    functions();
  }

  void all() {
    schedules();
    for (const Input &item : program.inputs)
      tensor("input", item, shared);
    for (const Constant &constant : program.constants) {
      require(constant.type != ElementType::bf16, "a constant is bf16, expected f32 or i32");
      range("a constant", constant.offset, bytes("a constant", {constant.count}, constant.type), shared);
    }
    for (const Output &item : program.outputs) {
      require(program.findSchedule(scheduleOf(item)), "output \"" + item.name +
                                                          "\" is there, but no schedule \"" +
                                                          scheduleOf(item) + "\" that writes it");
      tensor("output", item, program.arenaFor(scheduleOf(item)));
    }
    for (const Variable &item : program.variables)
      variable(item);
    for (size_t i = 0; i < program.collectives.size(); ++i)
      collective(i);
    require(!program.actions.empty(), "the program has no actions");
    for (const Output &item : program.outputs) // the runtime reads their first element as it is
      require(item.name == "logits" || (item.type == ElementType::f32 && io::elementCount(item.local) > 0),
              "output \"" + item.name + "\" is not f32 or is empty");
  }

private:
  void require(bool good, const std::string &what) const {
    if (!good)
      throw Error(manifest.path + ": " + what + "; compile the package again");
  }

  /// Products and sums of these stay far from the ends of 64 bits.
  void sizes() const {
    constexpr int64_t most = int64_t(1) << 40;
    require(manifest.batch <= most && manifest.sequence <= most && manifest.microBatches <= most,
            "batch, seq or micro_batches is above " + std::to_string(most));
    require(manifest.batch % manifest.microBatches == 0, "micro_batches does not divide batch");
    require(manifest.batch <= INT64_MAX / 16 / (manifest.sequence + 1),
            "batch and seq are " + std::to_string(manifest.batch) + " and " +
                std::to_string(manifest.sequence) + ", which is more than can be counted");
  }

  static bool overlap(const RankSet &a, const RankSet &b) {
    return std::all_of(a.begin(), a.end(), [&](const auto &entry) {
      auto other = b.find(entry.first);
      std::vector<int> both;
      if (other != b.end())
        std::set_intersection(entry.second.begin(), entry.second.end(), other->second.begin(),
                              other->second.end(), std::back_inserter(both));
      return other == b.end() || !both.empty();
    });
  }

  int64_t countOf(const RankSet &set) const {
    int64_t count = manifest.worldSize;
    for (const auto &[axis, coordinates] : set)
      count = count / manifest.axes[size_t(axis)].size * int64_t(coordinates.size());
    return count;
  }

  /// Every rank has one program. Ranks themselves are not counted: there may be many.
  void ranks() const {
    int64_t count = 0;
    for (size_t i = 0; i < manifest.programs.size(); ++i) {
      count += countOf(manifest.programs[i].ranks);
      for (size_t j = 0; j < i; ++j)
        require(!overlap(manifest.programs[j].ranks, manifest.programs[i].ranks),
                "programs " + std::to_string(j) + " and " + std::to_string(i) + " have ranks in common");
    }
    require(count == manifest.worldSize, "programs are there for " + std::to_string(count) + " of " +
                                             std::to_string(manifest.worldSize) + " ranks");
  }

  /// Some program has what the runtime reports.
  void outputs() const {
    std::vector<std::string> needed = {"loss", "grad_norm"};
    if (manifest.has("eval"))
      needed.push_back("eval_loss");
    if (manifest.has("logits"))
      needed.push_back("logits");
    for (const ManifestLoss &loss : manifest.losses)
      needed.push_back(loss.output());
    for (const std::string &name : needed)
      require(manifest.programWith(name) < manifest.programs.size(),
              "no program has an output \"" + name + "\"");
  }

  /// What programs list under one name is the same tensor, cut in the same way: gradients are added up, and
  /// values compared.
  void replicas() const {
    auto differ = [](const Variable &a, const Variable &b) {
      return a.role != b.role || a.type != b.type || a.shape != b.shape || a.local != b.local ||
             a.sharding != b.sharding || a.of != b.of || !(a.file == b.file);
    };
    std::map<std::string, const Variable *> owners;
    for (const Variable &variable : manifest.variables)
      owners[variable.name] = &variable;
    for (size_t number = 0; number < manifest.programs.size(); ++number)
      for (const Variable &variable : manifest.programs[number].variables)
        require(!differ(*owners[variable.name], variable),
                "variable \"" + variable.name + "\" of program " + std::to_string(number) +
                    " has another role, type, shape or sharding than that of program " +
                    std::to_string(variable.owner) + ", which owns it");
    for (const Variable &variable : manifest.variables)
      holders(variable);
  }

  /// Shards on ranks of other programs are listed there, or nobody would have them.
  void holders(const Variable &owned) const {
    const RankSet &ranks = manifest.programs[owned.owner].ranks;
    bool leaves = false; // most variables lie on ranks of their program only
    for (const std::vector<int> &dimension : owned.sharding)
      for (int axis : dimension)
        leaves |= ranks.count(axis) != 0;
    if (!leaves)
      return;
    for (int rank : holdersOf(manifest, owned))
      require(manifest.programOf(rank).findVariable(owned.name),
              "variable \"" + owned.name + "\" of program " + std::to_string(owned.owner) +
                  " has a shard on rank " + std::to_string(rank) + ", whose program does not list it");
  }

  /// Whether some ranks of a program are at a stage.
  bool isAt(const Program &some, int stage) const {
    for (const auto &[axis, coordinates] : some.ranks)
      if (manifest.axes[size_t(axis)].of == pipelineAxis &&
          !std::binary_search(coordinates.begin(), coordinates.end(), stage))
        return false;
    return true;
  }

  std::string textOf(const ManifestMessage &message) const {
    int64_t bytes = 0;
    for (int64_t one : message.bytes)
      bytes += one;
    return message.what + ", " + std::to_string(bytes) + " bytes in " + std::to_string(message.bytes.size()) +
           " buffers, " + std::to_string(message.times) + " times a step";
  }

  /// What a stage sends to another, that one receives: sizes and counts, in any order.
  /// Where it is said what functions consist of, it covers every program's work. A function calls those
  /// before it or behind it, but never itself by any way: calls have an end.
  void functions() const {
    if (manifest.functions.empty())
      return;
    int64_t work = 0;
    for (const ManifestFunction &function : manifest.functions) {
      require(function.work <= INT32_MAX,
              "a function has " + std::to_string(function.work) + " pieces of work");
      work += function.work;
      for (auto [callee, times] : function.calls)
        require(callee < manifest.functions.size(), "a function calls number " + std::to_string(callee) +
                                                        " of " + std::to_string(manifest.functions.size()));
    }
    callsEnd();
    for (const Program &program : manifest.programs) {
      require(work == int64_t(program.work.size()), "functions have " + std::to_string(work) +
                                                        " pieces of work, the list `work` has " +
                                                        std::to_string(program.work.size()));
      for (const Action &action : program.actions)
        require(action.function < int(manifest.functions.size()),
                "an action calls function " + std::to_string(action.function) + " of " +
                    std::to_string(manifest.functions.size()));
    }
  }

  /// Functions that call only such whose calls end, again and again, until none is left.
  void callsEnd() const {
    std::vector<bool> ends(manifest.functions.size());
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (size_t number = 0; number < ends.size(); ++number) {
        const auto &calls = manifest.functions[number].calls;
        if (ends[number] ||
            !std::all_of(calls.begin(), calls.end(), [&](auto call) { return ends[call.first]; }))
          continue;
        ends[number] = isChanged = true;
      }
    }
    require(std::find(ends.begin(), ends.end(), false) == ends.end(),
            "functions call each other in a circle");
  }

  void messages() const {
    int stages = stageCount(manifest);
    for (size_t number = 0; number < manifest.programs.size(); ++number)
      for (const ManifestMessage &message : manifest.programs[number].messages) {
        std::string what = "program " + std::to_string(number) + (message.sends ? " sends " : " receives ") +
                           textOf(message) + (message.sends ? ", to stage " : ", from stage ") +
                           std::to_string(message.stage);
        require(message.stage < stages, what + ", but there are " + std::to_string(stages));
        require(!isAt(manifest.programs[number], message.stage), what + ", which is its own");
      }
    for (int from = 0; from < stages; ++from)
      for (int to = 0; to < stages; ++to)
        messages(from, to);
  }

  void messages(int from, int to) const {
    for (const Program &sender : manifest.programs)
      for (const Program &receiver : manifest.programs)
        if (from != to && isAt(sender, from) && isAt(receiver, to))
          taken(sender, from, receiver, to);
  }

  void taken(const Program &sender, int from, const Program &receiver, int to) const {
    using Key = std::pair<std::vector<int64_t>, int64_t>;
    std::multimap<Key, const ManifestMessage *> open;
    for (const ManifestMessage &message : sender.messages)
      if (message.sends && message.stage == to)
        open.insert({{message.bytes, message.times}, &message});
    for (const ManifestMessage &message : receiver.messages) {
      if (message.sends || message.stage != from)
        continue;
      auto found = open.find({message.bytes, message.times});
      require(found != open.end(), "stage " + std::to_string(to) + " receives " + textOf(message) +
                                       ", from stage " + std::to_string(from) +
                                       ", which sends nothing like it");
      open.erase(found);
    }
    require(open.empty(), "stage " + std::to_string(from) + " sends " +
                              (open.empty() ? "" : textOf(*open.begin()->second)) + ", to stage " +
                              std::to_string(to) + ", which receives nothing like it");
  }

  /// A run's arena is as large as the schedules that it uses, and maybe that is one alone: what all of them
  /// share lies in each one's.
  void schedules() {
    shared = program.arenaBytes;
    for (const ManifestSchedule &schedule : program.schedules) {
      require(schedule.arenaBytes <= program.arenaBytes,
              "schedule \"" + schedule.name + "\" needs " + std::to_string(schedule.arenaBytes) +
                  " bytes of an arena of " + std::to_string(program.arenaBytes));
      shared = std::min(shared, schedule.arenaBytes);
    }
  }

  /// The schedule that writes an output.
  static const char *scheduleOf(const Output &output) {
    return output.name == "eval_loss" ? "eval" : output.name == "logits" ? "logits" : "train";
  }

  /// Bytes of a tensor; refused where they cannot be counted.
  int64_t bytes(const std::string &what, const Shape &shape, ElementType type) const {
    int64_t count = bytesOf(type);
    for (int64_t size : shape)
      require(size >= 0 && !__builtin_mul_overflow(count, size, &count) && count <= mostBytes,
              what + " has shape " + io::toString(shape) + ", which no memory can hold");
    return count;
  }

  /// [offset, offset + bytes) lies in the arena.
  void range(const std::string &what, int64_t offset, int64_t bytes, int64_t arena) const {
    require(offset % 4 == 0, what + " has the unaligned offset " + std::to_string(offset));
    require(offset >= 0 && offset <= arena && bytes <= arena - offset,
            what + " has " + std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
                " on of an arena of " + std::to_string(arena));
  }

  void mesh() const {
    int64_t ofMesh = 1, ofAxes = 1; // counted no further than there can be ranks
    for (const auto &entry : manifest.mesh)
      ofMesh = std::min(ofMesh * entry.second, int64_t(INT32_MAX));
    std::set<std::string> names;
    for (const Axis &axis : manifest.axes) {
      ofAxes = std::min(ofAxes * axis.size, int64_t(INT32_MAX));
      require(names.insert(axis.name).second, "the axis \"" + axis.name + "\" is there twice");
      require(std::any_of(manifest.mesh.begin(), manifest.mesh.end(),
                          [&](const auto &e) { return e.first == axis.of; }),
              "the axis \"" + axis.name + "\" belongs to \"" + axis.of + "\", which is not in the mesh");
    }
    require(ofMesh == manifest.worldSize && ofAxes == manifest.worldSize,
            "mesh and axes have " + std::to_string(ofMesh) + " and " + std::to_string(ofAxes) +
                " ranks, world_size is " + std::to_string(manifest.worldSize));
  }

  /// Blocks of `local` elements over the axes of a dimension cover `shape`; no axis is used twice.
  void shards(const std::string &what, const Shape &shape, const Shape &local,
              const Sharding &sharding) const {
    require(shape.size() == local.size() && shape.size() == sharding.size(),
            what + ": shape, sharding and local_shape have different ranks");
    std::set<int> used;
    for (size_t d = 0; d < shape.size(); ++d) {
      for (int axis : sharding[d])
        require(used.insert(axis).second,
                what + " is sharded over \"" + manifest.axes[axis].name + "\" twice");
      int64_t blocks = coordinateCount(manifest.axes, sharding[d]);
      require(shape[d] <= mostBytes && local[d] <= mostBytes / blocks,
              what + " has a dimension of " + std::to_string(std::max(shape[d], local[d])) + " elements");
      require(local[d] >= (shape[d] + blocks - 1) / blocks,
              what + ": dimension " + std::to_string(d) + " has " + std::to_string(shape[d]) +
                  " elements over " + std::to_string(blocks) + " shards of " + std::to_string(local[d]));
    }
  }

  void tensor(const std::string &kind, const ProgramTensor &item, int64_t arena) const {
    std::string what = kind + " \"" + item.name + "\"";
    shards(what, item.shape, item.local, item.sharding);
    require(item.offsets.size() == 1 || int64_t(item.offsets.size()) == manifest.microBatches,
            what + " has " + std::to_string(item.offsets.size()) +
                " offsets, expected 1 or one per micro-batch");
    for (int64_t offset : item.offsets)
      range(what, offset, bytes(what, item.local, item.type), arena);
  }

  void variable(const Variable &item) const {
    std::string what = "variable \"" + item.name + "\"";
    shards(what, item.shape, item.local, item.sharding);
    range(what, item.offset, bytes(what, item.local, item.type),
          item.onHost ? program.hostArenaBytes : shared);
    bytes(what, item.shape, item.type);
    if (item.file.pieces.empty())
      return;
    require(item.type != ElementType::i32, what + " is in files but is neither f32 nor bf16");
    for (const io::FilePiece &piece : item.file.pieces)
      bytes(what + ": file", piece.shape, item.type);
    for (const std::string &problem : io::problemsOf(item.file, item.shape))
      require(false, what + ": " + problem);
  }

  /// Groups that are listed: of one size, as the collective is the same for all; no rank in two of them, and
  /// every rank of the program in one.
  void groups(const std::string &what, const std::vector<std::vector<int>> &groups) const {
    std::set<int> all;
    for (const std::vector<int> &group : groups) {
      require(group.size() == groups.front().size() && !group.empty(),
              what + " has groups of " + std::to_string(groups.front().size()) + " and of " +
                  std::to_string(group.size()) + " ranks, expected one size");
      for (int rank : group) {
        require(rank < manifest.worldSize,
                what + " names rank " + std::to_string(rank) + " of " + std::to_string(manifest.worldSize));
        require(all.insert(rank).second, what + " names rank " + std::to_string(rank) + " twice");
      }
    }
    auto own = [&](int rank) { return &manifest.programOf(rank) == &program; };
    if (groups.empty() || std::count_if(all.begin(), all.end(), own) == countOf(program.ranks))
      return;
    int rank = 0;
    while (all.count(rank) || !own(rank))
      ++rank;
    require(false, what + ": rank " + std::to_string(rank) + " of " + program.file + " is in no group");
  }

  void collective(size_t number) const {
    const ManifestCollective &item = program.collectives[number];
    const std::vector<int> &axes = item.members.axes;
    std::set<int> distinct(axes.begin(), axes.end());
    std::string what = "collective " + std::to_string(number);
    require(distinct.size() == axes.size(), what + " names an axis twice");
    groups(what, item.members.groups);
    int64_t members = item.members.groups.empty() ? coordinateCount(manifest.axes, axes)
                                                  : int64_t(item.members.groups.front().size());
    int64_t total = 0;
    for (int64_t count : item.what.counts)
      require(count <= mostBytes / 8 / members && (total += count) <= mostBytes / 8 / members,
              what + " moves " + std::to_string(count) + " elements, which no memory can hold");
    std::string problem = comm::problemOf(item.what, int(members));
    require(problem.empty(), what + ": " + problem);
  }

  /// Far above any machine's memory, and low enough to be multiplied and added.
  static constexpr int64_t mostBytes = int64_t(1) << 56;

  const Manifest &manifest;
  const Program &program;
  int64_t shared = 0; ///< bytes of the arena that every schedule has
};
} // namespace

void checkManifest(const Manifest &manifest) {
  Checker(manifest, manifest.programs.front()).common();
  for (const Program &program : manifest.programs)
    Checker(manifest, program).all();
}

} // namespace par::rt

#include "core/Elements.h"
#include "core/Error.h"
#include "core/Manifest.h"

#include <algorithm>
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
  explicit Checker(const Manifest &manifest) : manifest(manifest), program(manifest.program) {}

  void all() {
    mesh();
    sizes();
    schedules();
    for (const Input &item : program.inputs)
      tensor("input", item, shared);
    for (const Constant &constant : program.constants) {
      require(constant.type != ElementType::bf16, "a constant is bf16, expected f32 or i32");
      range("a constant", constant.offset, 4, shared);
    }
    for (const Output &item : program.outputs)
      tensor("output", item, arenaOf(item));
    for (const Variable &item : program.variables)
      variable(item);
    for (size_t i = 0; i < program.collectives.size(); ++i)
      collective(i);
    require(!program.actions.empty(), "the program has no actions");
    std::vector<std::string> needed = {"loss", "grad_norm"};
    if (program.findSchedule("eval"))
      needed.push_back("eval_loss");
    if (program.findSchedule("logits"))
      needed.push_back("logits");
    for (const std::string &name : needed)
      require(program.findOutput(name), "the program has no output \"" + name + "\"");
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

  /// Of the schedule that writes it.
  int64_t arenaOf(const Output &output) const {
    const char *name = output.name == "eval_loss" ? "eval" : output.name == "logits" ? "logits" : "train";
    const ManifestSchedule *schedule = program.findSchedule(name);
    return schedule ? schedule->arenaBytes : program.arenaBytes;
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
    if (item.file.name.empty()) {
      require(item.role != Role::parameter, what + " is a parameter without a file");
      return;
    }
    require(item.type != ElementType::i32, what + " is in files but is neither f32 nor bf16");
    std::vector<int64_t> sorted = item.file.permutation;
    std::sort(sorted.begin(), sorted.end());
    bool good = sorted.size() == item.shape.size();
    for (size_t i = 0; good && i < sorted.size(); ++i)
      good = sorted[i] == int64_t(i);
    require(good, what + ": file.permutation is no permutation of the dimensions");
    bytes(what + ": file", item.file.shape, item.type);
    require(io::elementCount(item.file.shape) == io::elementCount(item.shape),
            what + ": file.shape " + io::toString(item.file.shape) + " and shape " +
                io::toString(item.shape) + " have different numbers of elements");
  }

  void collective(size_t number) const {
    const ManifestCollective &item = program.collectives[number];
    std::set<int> distinct(item.axes.begin(), item.axes.end());
    std::string what = "collective " + std::to_string(number);
    require(distinct.size() == item.axes.size(), what + " names an axis twice");
    int64_t members = coordinateCount(manifest.axes, item.axes);
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

void checkManifest(const Manifest &manifest) { Checker(manifest).all(); }

} // namespace par::rt

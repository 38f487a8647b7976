/// manifest.json in memory (docs/Package.md).
#ifndef PAR_CORE_MANIFEST_H
#define PAR_CORE_MANIFEST_H

#include "comm/Collective.h"
#include "cuda/CudaWork.h"
#include "par/CudnnPlans.h"
#include "par/io/FilePlace.h"
#include "par/io/LossWeights.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace par::rt {

using io::Shape;

struct Axis {
  std::string name;
  int size;
  std::string of; ///< mesh axis it belongs to
};

/// Another name of the ranks that some axes number.
struct AxisView {
  std::string name;
  std::vector<int> axes; ///< their numbers
};

/// Axis numbers per dimension, major first.
using Sharding = std::vector<std::vector<int>>;

/// The last two are of inputs with names of a graph's own alone.
enum class ElementType { f32, i32, bf16, i64, i1 };
/// The type as the manifest spells it.
const char *nameOf(ElementType type);

/// An input or output.
struct ProgramTensor {
  std::string name;
  ElementType type;
  Shape shape, local;
  Sharding sharding;
  std::vector<int64_t> offsets; ///< one, or one per micro-batch
  std::string time, reader;     ///< of an input with a name of the graph's own; else empty
};
using Input = ProgramTensor;
using Output = ProgramTensor;

/// Element i is value + step · i.
struct Constant {
  ElementType type;
  int64_t offset, count;
  double value;
  int64_t step;
};

enum class Role { parameter, accumulator, gradient, moment, master, step };
enum class InitKind { zeros, ones, normal };

/// How a variable begins.
struct Initial {
  InitKind kind = InitKind::zeros;
  double std = 0;       ///< of `normal`
  int64_t zeroRow = -1; ///< index of dimension 0 that begins as zeros; -1: none
};

struct Variable {
  std::string name;
  Role role;
  bool isTrained = true; ///< of a parameter: steps change it
  ElementType type;
  int64_t offset;
  bool onHost = false; ///< `offset` is in the host's arena
  Shape shape, local;
  Sharding sharding;
  Initial init;
  bool hasFile = false;
  /// Its place in the model's files, or the parameter's for a master or gradient. A parameter without one
  /// (`hasFile`) has the place that a tensor of its own name would give it.
  io::FilePlace file;
  std::string of; ///< parameter it belongs to, or empty
  /// Number of the first program that lists it. That one owns it; what others list under its name are
  /// replicas, with an offset of their own.
  size_t owner = 0;
};

struct Action {
  std::string name;
  int chunk, microBatch;
  int function = -1; ///< that it calls, in the manifest's list; -1: none, or it is not said
};

/// What a function of the programs consists of.
struct ManifestFunction {
  int64_t work; ///< entries of the list `work`, where functions follow each other
  std::vector<std::pair<size_t, int64_t>> calls; ///< functions, and how often each
};

/// Who communicates: the ranks that differ on some axes only, or groups that are listed.
struct Members {
  std::vector<int> axes;                ///< axis numbers; they order the group's members
  std::vector<std::vector<int>> groups; ///< every rank of the program is in one; empty: by axes
  int channel = 0;                      ///< groups of the same ranks on different channels are different ones
};

struct ManifestCollective {
  comm::Collective what;
  Members members;
  int64_t times;
  bool started; ///< runs beside what the rank computes
};

/// What goes from one stage of a pipeline to another: between ranks whose coordinates differ on `pp` only.
struct ManifestMessage {
  bool sends; ///< else it is received
  int stage;  ///< the other one
  std::vector<int64_t> bytes;
  std::string what; ///< "activation of chunk 0"
  int64_t times;    ///< in a training step
};

/// The mesh axis whose coordinate is a rank's stage.
constexpr char pipelineAxis[] = "pp";

/// A kernel, product, attention, collective or copy.
struct Work {
  std::string group; ///< the row of a profile that it is counted in
  double flops, bytes;
  int64_t times; ///< in a training step
};

struct ManifestSchedule {
  std::string name;
  std::string function; ///< of the program's file
  int64_t arenaBytes;   ///< how much of the arena it needs
};

/// Ranks by their coordinates: those whose coordinate on every axis that is named is one of the list, without
/// an axis all. Axis number → coordinates, ascending.
using RankSet = std::map<int, std::vector<int>>;

struct Program {
  std::string file;
  RankSet ranks;
  int64_t arenaBytes;     ///< that all schedules need
  int64_t hostArenaBytes; ///< of variables in host memory, and of what is sent there
  bool transfers;         ///< some run beside what is computed
  std::vector<ManifestSchedule> schedules;
  std::vector<Input> inputs;
  std::vector<Constant> constants;
  std::vector<Output> outputs;
  std::vector<Variable> variables;
  std::vector<Action> actions; ///< of all schedules, one after the other
  std::vector<ManifestCollective> collectives;
  std::vector<ManifestMessage> messages;
  std::vector<Work> work;
  cuda::ProgramWork device; ///< what it calls by number; of the target cuda

  /// Of the target cuda: the file beside `file` that has its kernels.
  std::string moduleFile() const { return file.substr(0, file.rfind('.')) + ".ptx"; }

  /// The file that has cuDNN's plans of its attention, where the package brings them along.
  std::string plansFile() const { return file.substr(0, file.rfind('.')) + cuda::cudnnPlansExtension; }

  /// Null when there is none of that name.
  /// Null where the program's stage has no work in it: logits of a tied model may need the first stages
  /// alone.
  const ManifestSchedule *findSchedule(const std::string &name) const;
  /// What ranks of the program allocate to take part in a schedule. Variables and inputs lie in the arena of
  /// every schedule, so a stage without work in this one has memory for those.
  int64_t arenaFor(const std::string &schedule) const;
  const Output *findOutput(const std::string &name) const;
  const Variable *findVariable(const std::string &name) const;
};

/// One of several losses.
struct ManifestLoss {
  std::string name;             ///< "loss" is the main one
  std::optional<double> weight; ///< unless a run says another; none: no gradient depends on the loss

  bool isMain() const { return name == "loss"; }
  std::string output() const { return isMain() ? name : "loss." + name; }
};

struct Manifest {
  std::string path; ///< of manifest.json, for messages
  std::string fingerprint;
  std::string programHash;                  ///< what `par_manifest` of the program has to say
  std::map<std::string, std::string> files; ///< name → SHA-256
  std::vector<std::string> cpuFeatures;
  std::string chip, ptx; ///< of the target cuda: the GPU that programs are for, and their version of PTX
  std::string target, modelType, optimizer, dtype;
  std::string unproved;  ///< why it is not proved that the ranks compute what one device would; empty: it is
  double modelFlops = 0; ///< of a step, on all ranks together; 0: not known
  std::map<std::string, std::string> model; ///< model_type and the numbers of the model, as JSON texts
  uint32_t vocabulary;                      ///< where the package does not say it: any id is one
  std::vector<ManifestLoss> losses;         ///< empty: there is one, whose weight is 1
  bool causal;                              ///< no attention sees later positions
  int64_t parameters, sequence, batch, microBatches; ///< sequence 0: no program reads tokens or targets
  int worldSize;
  std::vector<std::pair<std::string, int>> mesh;
  std::vector<Axis> axes;
  std::vector<AxisView> views;
  std::vector<Program> programs;           ///< every rank has one
  std::vector<ManifestFunction> functions; ///< of all programs; empty: it is not said

  /// The program that a rank runs, and its number in the list.
  const Program &programOf(int rank) const { return programs[programNumberOf(rank)]; }
  size_t programNumberOf(int rank) const;
  /// Those of the whole training, as their owners have them.
  std::vector<Variable> variables;
  /// The first program that has an output; none: their number.
  size_t programWith(const std::string &output) const;
  /// Whether some program reads an input of that name.
  bool reads(const std::string &input) const;
  /// Weights that a run may give, by the name of the loss.
  io::LossWeights lossWeights() const;
  /// Whether some program has a schedule.
  bool has(const std::string &schedule) const;
  /// What the program needs that needs most: for one schedule, and in the host's memory.
  int64_t arenaBytes(const std::string &schedule) const;
  int64_t hostArenaBytes() const;
};

/// What has to be known before the rest of a manifest may be read.
struct ManifestHead {
  int64_t formatVersion, abiVersion;
  std::string fingerprint;
};

/// Reads `text`, the content of the file `path`. Throws Error: not JSON, a missing key, a wrong type, a value
/// that breaks a rule of docs/Package.md.
ManifestHead parseHead(const std::string &path, const std::string &text);
Manifest parseManifest(const std::string &path, const std::string &text);

/// Checks what follows from several keys together: sizes, offsets within the arena, collectives that fit
/// their groups. Throws Error.
void checkManifest(const Manifest &manifest);

/// Number of ranks over the given axes.
int64_t coordinateCount(const std::vector<Axis> &axes, const std::vector<int> &which);

} // namespace par::rt
#endif

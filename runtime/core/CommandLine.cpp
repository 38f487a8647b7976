#include "core/FlagChecks.h"
#include "core/OptimizerFlags.h"
#include "par/io/Files.h"

#include <sstream>
#include <utility>

namespace par::rt {

using flags::Flags;

/// Commas separate files, unless a file has that very name.
static std::string addSources(const std::string &text, io::DataOptions &data) {
  if (io::isFile(text)) {
    io::addDataFile(text, data);
    return "";
  }
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part.empty())
      return flags::isNot(text, "files with one comma between two of them");
    io::addDataFile(part, data);
  }
  return "";
}

std::string describeData(const io::DataOptions &data) {
  std::vector<std::string> files = data.sources;
  files.insert(files.end(), data.rows.begin(), data.rows.end());
  std::string text = files.front();
  if (files.size() > 1)
    text += " and " + std::to_string(files.size() - 1) + " more";
  return text + (data.shuffle ? ", shuffled" : "") +
         (data.documents == io::Documents::mask ? ", documents masked" : "");
}

static void addData(Flags &flags, RunOptions &options) {
  flags.section("Steps and data");
  flags.integer("--steps", "N", "optimizer steps to run; 0 only initialises or loads", {0}, options.steps);
  flags::NumberRange epochs{0, 1e9};
  epochs.aboveLeast = true;
  flags.number("--epochs", "X", "in place of --steps: passes over all windows of --data", epochs,
               options.epochs);
  flags
      .custom("--data", "FILE[,FILE...]",
              "tokens: FILE.bin (llm.c's header, Megatron's with FILE.idx beside it, else headerless uint16, "
              "or uint32 when the vocabulary exceeds 65536), any other FILE as bytes where the vocabulary "
              "has at most "
              "256 tokens or --data-dtype uint8 says so, or \"random\" (default); rows of other inputs: "
              "FILE.safetensors; "
              "several: again, or with commas",
              [&options, isFirst = true](const std::string &text) mutable {
                if (std::exchange(isFirst, false))
                  options.data.sources.clear(); // what is read where nothing is given
                return addSources(text, options.data);
              })
      .repeated()
      .takes(config::Takes::text);
  flags
      .custom("--input", "NAME=VALUE|FILE.safetensors",
              "what an input is in every step: a number, or FILE's tensor of that name; several: again",
              [&options](const std::string &text) {
                options.inputs.push_back(text);
                return std::string();
              })
      .repeated()
      .takes(config::Takes::text);
  flags.toggle("--shuffle", "windows in an order that the seed gives, another one for every pass",
               options.data.shuffle);
  flags.choice<io::Documents>(
      "--documents",
      {{"pack", io::Documents::pack}, {"mask", io::Documents::mask}, {"isolate", io::Documents::isolate}},
      "pack (default): windows run over the ends of documents; mask: they do, but a document's "
      "first token is no target; isolate: nor do tokens see other documents, for packages that were "
      "compiled so, whose default it is",
      options.data.documents);
  flags.integer("--document-end", "ID",
                "token that ends a document, for --documents mask and isolate and files that do not say it",
                {0, UINT32_MAX}, options.data.documentEnd);
  flags.choice("--data-dtype", io::tokenTypeWords(), "element type of headerless data", options.data.type);
  flags.text("--weights", "FILE|HF_DIR", "initial parameters: a safetensors FILE or a Hugging Face folder",
             options.weights);
  flags
      .custom("--seed", "N",
              "drives initialisation (without --weights), dropout, --shuffle and random data (default: 0, or "
              "the checkpoint's)",
              [&options](const std::string &text) {
                options.seedGiven = true;
                return flags::readUnsigned(text, options.seed);
              })
      .takes(config::Takes::integer);
}

static void addLossWeights(Flags &flags, io::LossWeights &weights) {
  flags
      .custom("--loss-weight", "NAME=X",
              "weight of one of several losses in the sum whose gradient is taken; \"loss\" is the main one "
              "(default: the package's); several: again",
              [&weights](const std::string &text) { return io::addLossWeight(text, weights).message(); })
      .repeated()
      .takes(config::Takes::text);
}

static void addOutput(Flags &flags, RunOptions &options) {
  flags.section("Output");
  flags.integer("--log-every", "N",
                "print a line after every N steps (default: a bar on a terminal, else a line every 5 s)", {1},
                options.logEvery);
  flags
      .text("--metrics", "FILE",
            "write one line per step and evaluation: JSON, or CSV where FILE ends with .csv; FILE may be a "
            "named pipe or /dev/stdout",
            options.metrics)
      .writes();
  flags.toggle("--profile",
               "after the run, print where rank 0's steps went: time by class of work, and how much of the "
               "machine's rates each class reached",
               options.profile);
  flags
      .text("--trace", "FILE.json", "after the run, write what every rank did when, for Perfetto or Chrome",
            options.trace)
      .writes();
  flags
      .text("--save-params", "FILE", "write the parameters after the last step, f32 safetensors",
            options.saveParams)
      .writes();
  flags
      .text("--save-grads", "FILE", "write the last step's mean gradients before clipping, f32 safetensors",
            options.saveGrads)
      .writes();
}

static void addEvaluation(Flags &flags, RunOptions &options) {
  flags.section("Evaluation");
  flags
      .custom("--eval-data", "FILE[,FILE...]",
              "tokens to evaluate: the mean loss without dropout over all windows of the file, each once "
              "(formats, --data-dtype and --documents as for --data); several: again, or with commas",
              [&options](const std::string &text) { return addSources(text, options.evalData); })
      .repeated()
      .takes(config::Takes::text);
  flags.integer("--eval-every", "N",
                "steps between evaluations (default: only after the last step, or at once with --steps 0)",
                {1}, options.evalEvery);
}

static void addCheckpoints(Flags &flags, RunOptions &options) {
  flags.section("Checkpoints");
  flags.text(
      "--checkpoint", "DIR",
      "folder for checkpoints: after the last step, at SIGUSR1, and at SIGTERM, SIGINT or SIGHUP before the "
      "run stops",
      options.checkpoint);
  flags.integer("--checkpoint-every", "N", "steps between checkpoints", {1}, options.checkpointEvery);
  flags::NumberRange minutes{0, 1e7};
  minutes.aboveLeast = true;
  flags.number("--save-minutes", "M", "minutes between checkpoints, by the clock of rank 0", minutes,
               options.saveMinutes);
  flags.integer("--keep", "N", "newest checkpoints that stay (default: all)", {1}, options.keep);
  flags.toggle(
      "--keep-best",
      "save after every evaluation that has the least loss so far; that checkpoint stays, and DIR/best "
      "is a link to it",
      options.keepBest);
  flags.text(
      "--resume", "DIR|latest",
      "go on from a checkpoint, from the latest one in a folder, or from \"latest\" in --checkpoint if "
      "there is one, else from --weights or initial values",
      options.resume);
}

/// Slower links would let times overflow.
static std::string readLink(const std::string &text, comm::EmulatedLink &link) {
  flags::NumberRange rates{1e-6, 1e6}, latencies{0, 1e7};
  double rate = 0, microseconds = 0;
  size_t comma = text.find(',');
  if (comma == std::string::npos || !flags::readNumber(text.substr(0, comma), rates, rate).empty() ||
      !flags::readNumber(text.substr(comma + 1), latencies, microseconds).empty())
    return flags::isNot(text, "GBps,us: gigabytes per second from 1e-6 to 1e6 and microseconds per "
                              "collective from 0 to 1e7, for example 1.25,20");
  link = {rate * 1e9, microseconds * 1e-6};
  return "";
}

static std::string readKernels(const std::string &text, EmulatedRates &kernels) {
  flags::NumberRange range{1e-6, 1e9};
  double flops = 0, bytes = 0;
  size_t comma = text.find(',');
  if (comma == std::string::npos || !flags::readNumber(text.substr(0, comma), range, flops).empty() ||
      !flags::readNumber(text.substr(comma + 1), range, bytes).empty())
    return flags::isNot(text, "GFLOPS,GBps: billions of operations and of bytes of memory per second, both "
                              "from 1e-6 to 1e9, for example 50,20");
  kernels = {flops * 1e9, bytes * 1e9};
  return "";
}

static std::string readTransport(const std::string &text, TransportKind &kind) {
  static const std::pair<const char *, TransportKind> kinds[] = {{"local", TransportKind::local},
                                                                 {"mpi", TransportKind::mpi},
                                                                 {"tcp", TransportKind::tcp},
                                                                 {"nccl", TransportKind::nccl}};
  for (const auto &[name, value] : kinds)
    if (text == name) {
      kind = value;
      return "";
    }
  return flags::isNot(text, "local|mpi|tcp|nccl");
}

static void addExecution(Flags &flags, RunOptions &options) {
  flags.section("Execution");
  flags.custom(
      "--transport", "local|mpi|tcp|nccl",
      "how ranks talk: local = threads of this process (default without a launcher), mpi = processes "
      "of mpirun or srun, tcp = processes with RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, nccl = either, "
      "with a GPU for each (always so for packages of --target cuda)",
      [&options](const std::string &text) { return readTransport(text, options.transport); });
  flags
      .custom("--rank", "N",
              "this process is that rank and talks by tcp; rank 0 is at MASTER_ADDR, MASTER_PORT (127.0.0.1, "
              "29500)",
              [&options](const std::string &text) {
                int64_t rank = -1;
                std::string problem = flags::readInteger(text, {0, INT32_MAX}, rank);
                options.rank = int(rank);
                return problem;
              })
      .takes(config::Takes::integer);
  flags.number("--timeout", "S",
               "seconds without progress of some rank after which the run is ended (default: 300)",
               {0.1, 1e7}, options.timeout);
  flags.number(
      "--tune-seconds", "S",
      "on a GPU, seconds at the first start for measuring which of cuBLASLt's algorithms is the quickest "
      "for each product; results are kept in the cache folder (default: 5; 0: the first it names)",
      {0, 3600}, options.tuneSeconds);
  flags.choice(
      "--attention",
      {{"auto", AttentionChoice::automatic},
       {"cudnn", AttentionChoice::cudnn},
       {"generated", AttentionChoice::generated}},
      "on a GPU, what computes attention: cuDNN, the package's kernels (generated), which give the same "
      "bits each time, or cuDNN where it is found and takes all that it may (auto, default)",
      options.attention);
  flags.custom("--emulate-link", "GBps,us",
               "transport local: every collective takes as long as a link of that rate and latency would",
               [&options](const std::string &text) { return readLink(text, options.link); });
  flags.custom("--emulate-kernels", "GFLOPS,GBps",
               "compute nothing: every function sleeps as long as a device with these rates would take; loss "
               "and gradient norm are null, and nothing can be saved",
               [&options](const std::string &text) { return readKernels(text, options.kernels); });
  std::vector<std::pair<std::string, std::optional<cpu::Bf16Units>>> units{{"auto", std::nullopt}};
  for (cpu::Bf16Units each : {cpu::Bf16Units::none, cpu::Bf16Units::dot, cpu::Bf16Units::tiles})
    units.emplace_back(nameOf(each), each);
  flags.choice("--bf16-units", units,
               "what multiplies bf16 numbers on a CPU: the processor's fastest (auto, default), AMX (tiles), "
               "AVX512-BF16 (dot), or neither (none), which gives the same numbers on every processor",
               options.bf16Units);
  flags.toggle("--allow-nonfinite", "go on when loss or gradient norm is NaN or infinite",
               options.allowNonfinite);
  flags.toggle(
      "--deterministic",
      "refuse what may give other bits when the same command runs again: sums of more than two ranks "
      "by NCCL (all else has one order); products are computed as with --tune-seconds 0",
      options.deterministic);
}

/// Flags of par-compile.
static void addRefused(Flags &flags) {
  flags.elsewhere({"--batch",
                   "--seq",
                   "--micro-batches",
                   "--dtype",
                   "--grad-dtype",
                   "--moment-dtype",
                   "--set",
                   "--mesh",
                   "--optimizer",
                   "--freeze",
                   "--weight-decay-on",
                   "--cpu",
                   "--explain",
                   "--memory-limit",
                   "--headroom",
                   "--report",
                   "--proof",
                   "--save-ir",
                   "--from",
                   "--to",
                   "--cudnn-plans",
                   "--dry-run",
                   "--zero",
                   "--zero3-gather",
                   "--sequence-parallel",
                   "--overlap",
                   "--prefetch-limit",
                   "--bucket-bytes",
                   "--offload",
                   "--recompute",
                   "--recompute-limit",
                   "--ranks",
                   "--cluster",
                   "--plan",
                   "--schedule",
                   "--chunks",
                   "--cuts",
                   "--target",
                   "--chip",
                   "--timeline",
                   "--sharding-search",
                   "--strategy",
                   "--plugin",
                   "--parameter-limit",
                   "-o"},
                  "par-compile takes it; what it says is part of the package");
}

std::optional<int> parseCommandLine(int argc, char **argv, const std::string &package, bool quiet,
                                    RunOptions &options) {
  bool isLauncher = !package.empty();
  std::string usage = isLauncher ? "rank --steps N [flags]" : "par-run DIR.par --steps N [flags]";
  Flags flags(isLauncher ? "rank" : "par-run", usage,
              "Runs a package that par-compile made: all ranks, data, metrics, and safetensors in and out.");
  options.package = package;
  if (!isLauncher)
    flags.operand("DIR.par", "the package", options.package);
  flags.first({"--steps", "--data", "--weights", "--lr", "--checkpoint"});
  addData(flags, options);
  addOptimizer(flags, options.hyper);
  addLossWeights(flags, options.lossWeights);
  addOutput(flags, options);
  addEvaluation(flags, options);
  addCheckpoints(flags, options);
  addExecution(flags, options);
  addRefused(flags);
  std::optional<int> exitCode = flags.read(
      argc, argv,
      [&] {
        if (flags.isGiven("--steps") == flags.isGiven("--epochs"))
          return flags.isGiven("--steps") ? std::string("--steps and --epochs both say how long; give one")
                                          : "--steps is missing (or --epochs); usage: " + usage;
        std::string idle = findIdle(options, flags);
        return idle.empty() ? findConflict(options, flags) : idle;
      },
      quiet);
  // One format and one tokenizer for both, so one set of flags.
  options.evalData.type = options.data.type;
  options.evalData.documents = options.data.documents;
  options.evalData.documentEnd = options.data.documentEnd;
  options.given = flags.givenFlags();
  return exitCode;
}

} // namespace par::rt

#include "core/Options.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace par::rt {

/// Commas separate files, unless a file has that very name.
static std::vector<std::string> splitSources(const std::vector<std::string> &given) {
  std::vector<std::string> sources;
  for (const std::string &text : given) {
    std::stringstream parts(io::isFile(text) ? "" : text);
    if (io::isFile(text))
      sources.push_back(text);
    for (std::string part; std::getline(parts, part, ',');)
      sources.push_back(part);
  }
  return sources;
}

std::string describeData(const io::DataOptions &data) {
  std::string text = data.sources.front();
  if (data.sources.size() > 1)
    text += " and " + std::to_string(data.sources.size() - 1) + " more";
  return text + (data.shuffle ? ", shuffled" : "") + (data.maskDocuments ? ", documents masked" : "");
}

static void addData(CLI::App &app, RunOptions &options) {
  static const std::map<std::string, io::TokenType> types = {
      {"uint8", io::TokenType::uint8}, {"uint16", io::TokenType::uint16}, {"uint32", io::TokenType::uint32}};
  app.add_option("--steps", options.steps, "optimizer steps to run; 0 only initialises or loads")
      ->required()
      ->check(CLI::NonNegativeNumber);
  app.add_option_function<std::vector<std::string>>(
         "--data", [&](const std::vector<std::string> &given) { options.data.sources = splitSources(given); },
         "tokens: FILE.bin (llm.c's header, Megatron's with FILE.idx beside it, else headerless uint16, or "
         "uint32 when the "
         "vocabulary exceeds 65536), any other FILE as bytes, or \"random\" (default); several: again, or "
         "with commas")
      ->option_text("FILE[,FILE...]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--shuffle", options.data.shuffle,
               "windows in an order that the seed gives, another one for every pass");
  app.add_option_function<std::string>(
         "--documents", [&](const std::string &choice) { options.data.maskDocuments = choice == "mask"; },
         "pack (default): windows run over the ends of documents; mask: they do, but a document's first "
         "token is no target")
      ->check(CLI::IsMember({"pack", "mask"}));
  app.add_option("--document-end", options.data.documentEnd,
                 "token that ends a document, for --documents mask and files that do not say it")
      ->check(CLI::NonNegativeNumber)
      ->option_text("ID");
  app.add_option("--data-dtype", options.data.type,
                 "element type of headerless data: uint8, uint16 or uint32")
      ->transform(CLI::Transformer(types))
      ->check(
          CLI::IsMember({int(io::TokenType::uint8), int(io::TokenType::uint16), int(io::TokenType::uint32)}))
      ->option_text("TYPE");
  app.add_option("--weights", options.weights,
                 "initial parameters: a safetensors FILE or a Hugging Face folder");
  app.add_option_function<uint64_t>(
         "--seed", [&](uint64_t seed) { options.seed = seed, options.seedGiven = true; },
         "drives initialisation (without --weights), dropout, --shuffle and random data (default: 0, or the "
         "checkpoint's)")
      ->option_text("UINT");
}

static void addOptimizer(CLI::App &app, RunOptions &options) {
  Hyperparameters &hyper = options.hyper;
  auto number = [&](const char *flag, double &value, const char *text) {
    return app.add_option(flag, value, text)
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber)
        ->group("Optimizer");
  };
  number("--lr", hyper.lr, "learning rate");
  app.add_option_function<std::string>(
         "--lr-schedule", [&](const std::string &name) { hyper.cosine = name == "cosine"; },
         "constant (default), or cosine from --lr down to --min-lr at step --decay-steps")
      ->check(CLI::IsMember({"constant", "cosine"}))
      ->group("Optimizer");
  app.add_option("--warmup-steps", hyper.warmupSteps,
                 "steps over which the learning rate rises linearly to --lr")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->group("Optimizer");
  app.add_option("--decay-steps", hyper.decaySteps,
                 "step at which the cosine reaches --min-lr (default: --steps)")
      ->check(CLI::PositiveNumber)
      ->group("Optimizer");
  number("--min-lr", hyper.minLr, "end of the cosine");
  number("--beta1", hyper.beta1, "AdamW: decay of the first moment")->check(CLI::Range(0.0, 1.0));
  number("--beta2", hyper.beta2, "AdamW: decay of the second moment")->check(CLI::Range(0.0, 1.0));
  number("--eps", hyper.eps, "AdamW: added to the root of the second moment");
  number("--weight-decay", hyper.weightDecay, "decoupled weight decay of tensors of rank 2 and more");
  number("--clip-grad-norm", hyper.clip, "largest global gradient norm, 0 = no clipping");
}

static void addOutput(CLI::App &app, RunOptions &options) {
  app.add_option("--metrics", options.metrics, "write one line of JSON per step to FILE")->group("Output");
  app.add_flag("--profile", options.profile,
               "after the run, print where rank 0's steps went: time by class of work, and how much of the "
               "machine's rates each class reached")
      ->group("Output");
  app.add_option("--save-params", options.saveParams,
                 "write the parameters after the last step, f32 safetensors")
      ->group("Output");
  app.add_option("--save-grads", options.saveGrads,
                 "write the last step's mean gradients before clipping, f32 safetensors")
      ->group("Output");
}

static const char *const later[] = {"--trace", "--config"};

static void addEvaluation(CLI::App &app, RunOptions &options) {
  app.add_option_function<std::vector<std::string>>(
         "--eval-data",
         [&](const std::vector<std::string> &given) { options.evalData.sources = splitSources(given); },
         "tokens to evaluate: the mean loss without dropout over all windows of the file, each once "
         "(formats, --data-dtype and "
         "--documents as for --data); several: again, or with commas")
      ->option_text("FILE[,FILE...]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Evaluation");
  app.add_option("--eval-every", options.evalEvery,
                 "steps between evaluations (default: only after the last step, or at once with --steps 0)")
      ->check(CLI::PositiveNumber)
      ->group("Evaluation");
}

static void addCheckpoints(CLI::App &app, RunOptions &options) {
  app.add_option("--checkpoint", options.checkpoint,
                 "folder for checkpoints: after the last step, at SIGUSR1, and at SIGTERM or SIGINT before "
                 "the run stops")
      ->group("Checkpoints");
  app.add_option("--checkpoint-every", options.checkpointEvery, "steps between checkpoints")
      ->check(CLI::PositiveNumber)
      ->group("Checkpoints");
  app.add_option("--keep", options.keep, "newest checkpoints that stay (default: all)")
      ->check(CLI::PositiveNumber)
      ->group("Checkpoints");
  app.add_option("--resume", options.resume,
                 "go on from a checkpoint, from the latest one in a folder, or from \"latest\" in "
                 "--checkpoint if there is one")
      ->group("Checkpoints");
}

/// Flags of the tools' contract whose feature does not exist: known, so that they are refused by name.
static void addLater(CLI::App &app, std::vector<std::string> &refused) {
  for (const char *flag : later)
    app.add_option_function<std::string>(
           flag, [&refused, flag](const std::string &) { refused.push_back(flag); }, "not built yet: refused")
        ->group("Not built yet");
}

/// "GBps,us"; false where it is not that. Slower links would let times overflow.
static bool parseLink(const std::string &text, comm::EmulatedLink &link) {
  double rate = 0, microseconds = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%lf,%lf%n", &rate, &microseconds, &used) != 2 ||
      size_t(used) != text.size() || !(rate >= 1e-6 && rate <= 1e6) ||
      !(microseconds >= 0 && microseconds <= 1e7))
    return false;
  link = {rate * 1e9, microseconds * 1e-6};
  return true;
}

static void addExecution(CLI::App &app, RunOptions &options, std::vector<std::string> &refused) {
  app.add_option_function<std::string>(
         "--transport",
         [&](const std::string &name) {
           if (name == "nccl")
             refused.push_back("--transport nccl");
           options.transport = name == "local" ? TransportKind::local
                               : name == "mpi" ? TransportKind::mpi
                                               : TransportKind::tcp;
         },
         "how ranks talk: local = threads of this process (default without a launcher), mpi = processes of "
         "mpirun or srun, tcp = "
         "processes with RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT; nccl is not built yet")
      ->check(CLI::IsMember({"local", "mpi", "tcp", "nccl"}))
      ->group("Execution");
  app.add_option("--rank", options.rank,
                 "this process is that rank and talks by tcp; rank 0 is at MASTER_ADDR, MASTER_PORT "
                 "(127.0.0.1, 29500)")
      ->check(CLI::NonNegativeNumber)
      ->group("Execution");
  app.add_option("--timeout", options.timeout,
                 "seconds without progress of some rank after which the run is ended")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 1e7))
      ->group("Execution");
  app.add_option_function<std::string>(
         "--emulate-link",
         [&](const std::string &text) {
           if (!parseLink(text, options.link))
             throw CLI::ValidationError("--emulate-link",
                                        "\"" + text +
                                            "\" is not GBps,us: gigabytes per second from 1e-6 to 1e6 and "
                                            "microseconds per collective from 0 to 1e7, for example 1.25,20");
         },
         "transport local: every collective takes as long as a link of that rate and latency would")
      ->option_text("GBps,us")
      ->group("Execution");
  app.add_flag("--allow-nonfinite", options.allowNonfinite,
               "go on when loss or gradient norm is NaN or infinite")
      ->group("Execution");
}

/// What is wrong with flags that are fine one by one, or nothing.
static std::string problemOf(const RunOptions &options) {
  if (options.steps == 0 && !options.saveGrads.empty())
    return "--save-grads needs a step, but --steps is 0";
  if (options.steps == 0 && options.profile)
    return "--profile measures steps, but --steps is 0";
  if (options.evalEvery && options.evalData.sources.empty())
    return "--eval-every needs --eval-data FILE";
  if (!options.evalData.sources.empty() && options.evalData.sources.front() == "random")
    return "--eval-data random: random data has no end; give a file";
  if (options.data.documentEnd >= 0 && !options.data.maskDocuments)
    return "--document-end serves --documents mask only; give both or none";
  if (options.checkpoint.empty() && (options.checkpointEvery || options.keep || options.resume == "latest"))
    return std::string(options.checkpointEvery ? "--checkpoint-every"
                       : options.keep          ? "--keep"
                                               : "--resume latest") +
           " needs --checkpoint DIR";
  if (!options.resume.empty() && !options.weights.empty())
    return "--resume and --weights both say where parameters come from; give one";
  return "";
}

/// CLI11 takes an empty value for a value, and what it is empty of (a file, a folder) for not given.
static std::string findEmpty(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (!*argv[i])
      return std::string(i > 1 && argv[i - 1][0] == '-' ? argv[i - 1] : "an argument") +
             " is empty; give a value or leave it out";
  return "";
}

bool parseCommandLine(int argc, char **argv, const std::string &package, bool quiet, RunOptions &options,
                      int &exitCode) {
  CLI::App app{"Runs a package that par-compile made: all ranks, data, metrics, and safetensors in and out.",
               "par-run"};
  std::vector<std::string> refused;
  options.package = package;
  if (package.empty())
    app.add_option("package", options.package, "DIR.par")->required()->option_text("DIR.par REQUIRED");
  addData(app, options);
  addOptimizer(app, options);
  addOutput(app, options);
  addEvaluation(app, options);
  addCheckpoints(app, options);
  addExecution(app, options, refused);
  addLater(app, refused);
  std::string problem = findEmpty(argc, argv);
  try {
    if (problem.empty())
      app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    if (!quiet)
      std::fputs(app.help().c_str(), stdout);
    exitCode = 0;
    return false;
  } catch (const CLI::ParseError &error) {
    problem = std::string(error.what()) + "; see par-run --help";
  }
  // One format and one tokenizer for both, so one set of flags.
  options.evalData.type = options.data.type;
  options.evalData.maskDocuments = options.data.maskDocuments;
  options.evalData.documentEnd = options.data.documentEnd;
  if (problem.empty())
    problem = refused.empty() ? problemOf(options) : refused.front() + ": not built yet; leave it out";
  if (!problem.empty() && !quiet)
    std::fprintf(stderr, "error: par-run: %s\n", problem.c_str());
  exitCode = 1;
  return problem.empty();
}

} // namespace par::rt

#include "generate/Generate.h"

#include "comm/local/LocalTransport.h"
#include "core/Batch.h"
#include "core/Checkpoint.h"
#include "core/Devices.h"
#include "core/Error.h"
#include "core/InputReaders.h"
#include "core/Launch.h"
#include "core/Loading.h"
#include "core/ParameterFiles.h"
#include "core/RankProgram.h"
#include "core/Variables.h"
#include "cpu/Context.h"
#include "generate/Continuation.h"
#include "generate/LogitsRow.h"
#include "par/io/Threads.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace par::generating {

using rt::check;
using rt::Error;

namespace {
/// The last `length` tokens of a text as the first row of a batch: a longer one slides out of the window at
/// its beginning.
struct TextRow : rt::RowSource {
  TextRow(const std::vector<int32_t> &text, int64_t length, int64_t sequence)
      : text(text), length(length), sequence(sequence) {}

  /// The text is one document.
  bool read(int64_t number, rt::BatchRow &row) const override {
    // The model is causal: what follows the last token does not matter.
    std::fill_n(row.tokens.begin(), sequence, 0);
    std::copy(text.end() - length, text.end(), row.tokens.begin());
    std::fill_n(row.targets.begin(), sequence, io::ignoredTarget);
    std::iota(row.positions.begin(), row.positions.end(), 0);
    std::fill(row.documents.begin(), row.documents.end(), 0);
    return number == 0;
  }

  const std::vector<int32_t> &text;
  int64_t length, sequence;
};

/// What the ranks share; all of it is read and checked before they start.
struct Job {
  const GenerateOptions &options;
  rt::Manifest manifest;
  io::Weights weights;
  std::unique_ptr<io::CheckpointReader> checkpoint; ///< null: `weights` are open
  std::vector<rt::Schedule> schedule;               ///< by program
  rt::Fault fault;
  std::unique_ptr<Continuation> text; ///< asked by rank 0 alone
  std::string problem;                ///< why no more texts follow, or nothing
  int threads = 1;
};

/// What rank 0 says in place of a token.
enum NoToken : int32_t { noNumbers = -1, textEnds = -2 };

/// While rank 0 waits for whoever asks or reads, nobody is watched.
class Unwatched {
public:
  explicit Unwatched(rt::Watchdog *watchdog) : watchdog(watchdog) {
    if (watchdog)
      watchdog->stop();
  }
  ~Unwatched() {
    if (watchdog)
      watchdog->start();
  }

private:
  rt::Watchdog *watchdog;
};

/// One rank from its parameters to the last token of the last text.
class Generator {
public:
  /// `watchdog`: rank 0's, null on the others.
  Generator(Job &job, rt::ProgressBoard &board, rt::Failure &failure, comm::Transport &transport,
            rt::Watchdog *watchdog, int number)
      : job(job), manifest(job.manifest), transport(transport), watchdog(watchdog), number(number),
        program(manifest, board, failure, job.fault, transport, number), batch(manifest, number),
        logits(manifest, transport, number) {}

  void run() {
    if (watchdog)
      watchdog->start();
    prepare();
    generate();
    program.progress().done = true;
    if (watchdog)
      watchdog->stop();
  }

private:
  void prepare() {
    program.prepare({"logits"}, {job.threads, 0});
    program.progress().prepare(rt::Preparation::values);
    rt::initialiseVariables(manifest, number, program.arenas(), {job.checkpoint ? nullptr : &job.weights},
                            job.threads);
    if (job.checkpoint) {
      program.progress().prepare(rt::Preparation::checkpoint);
      rt::restoreParameters(manifest, *job.checkpoint, number, program.arenas());
    }
    program.createGroups();
    program.progress().prepare(rt::Preparation::none);
  }

  void generate() {
    std::vector<int32_t> sequence;
    while (begin(sequence)) {
      for (int64_t i = 0; i < job.options.tokens && hasRoom(sequence); ++i) {
        int32_t token = next(sequence);
        if (token == textEnds)
          break; // all ranks have the same
        sequence.push_back(token);
      }
      ask([&] { job.text->end(); });
    }
  }

  /// What is wrong with texts is no failure of a rank: all of them end as if there were no more.
  template <typename Question>
  void ask(Question question) {
    if (number != 0 || !job.problem.empty())
      return;
    Unwatched waits(watchdog);
    try {
      question();
    } catch (const Error &error) {
      job.problem = error.what();
    }
  }

  /// The next text, on all ranks.
  bool begin(std::vector<int32_t> &sequence) {
    std::vector<int32_t> tokens;
    ask([&] { job.text->begin(tokens); });
    sequence = broadcast({job.problem.empty() ? int32_t(tokens.size()) : 0}, 1);
    if (sequence[0] > 0)
      sequence = broadcast(std::move(tokens), size_t(sequence[0]));
    else
      sequence.clear();
    return !sequence.empty();
  }

  bool hasRoom(const std::vector<int32_t> &sequence) const {
    return int64_t(sequence.size()) < manifest.sequence || job.text->slides();
  }

  /// Rank 0's numbers.
  std::vector<int32_t> broadcast(std::vector<int32_t> own, size_t count) {
    comm::Collective collective;
    collective.kind = comm::Kind::collective_broadcast;
    collective.type = comm::Type::i32;
    collective.counts = {int64_t(count)};
    std::vector<int32_t> all(count);
    own.resize(count);
    void *buffers[2] = {own.data(), all.data()};
    rt::WaitForAll wait(program.progress());
    check(transport.run(program.world(), collective, buffers));
    return all;
  }

  int32_t next(const std::vector<int32_t> &sequence) {
    int64_t length = std::min<int64_t>(int64_t(sequence.size()), manifest.sequence);
    program.progress().step = int64_t(sequence.size());
    batch.write(program.arenas(), TextRow(sequence, length, manifest.sequence));
    program.run(job.schedule[manifest.programNumberOf(number)]);
    readLogits(length - 1);
    int32_t token = number == 0 ? sampleToken(job.options.sampler, row, int64_t(sequence.size())) : 0;
    if (number == 0 && token >= 0 && !show(token))
      token = textEnds;
    token = broadcast({token}, 1)[0];
    if (token == noNumbers)
      throw Error(manifest.path + ": the logits of token " + std::to_string(sequence.size()) +
                  " are not numbers; the parameters are not those of a trained model");
    return token;
  }

  void readLogits(int64_t position) {
    rt::WaitForAll wait(program.progress());
    logits.read(program.arenas(), position, row);
  }

  /// False: the text ends before it.
  bool show(int32_t token) {
    Unwatched waits(watchdog);
    return job.text->add(token);
  }

  Job &job;
  const rt::Manifest &manifest;
  comm::Transport &transport;
  rt::Watchdog *const watchdog;
  const int number;
  rt::RankProgram program;
  rt::BatchWriter batch;
  LogitsRow logits;
  std::vector<float> row;
};
} // namespace

static void checkPackage(const rt::Manifest &manifest) {
  if (!manifest.has("logits"))
    throw Error(manifest.path + ": has no schedule \"logits\": the graph has no function of phase "
                                "logits; add one and compile again");
  if (!manifest.causal)
    throw Error(manifest.path + ": the model is not causal, so what follows a text does not depend on the "
                                "text alone; give a causal model");
  for (const char *reader : {rt::readers::Rows, rt::readers::Value})
    if (std::vector<io::OpenInput> inputs = rt::openInputsOf(manifest, reader); !inputs.empty())
      throw Error(manifest.path + ": the program reads " + io::toString(inputs) +
                  ", which come with data and not with a text; give a package that reads tokens alone");
  const rt::Output &output = *manifest.programs[manifest.programWith("logits")].findOutput("logits");
  if (output.type != rt::ElementType::f32 || output.shape.size() != 3 ||
      output.shape[1] != manifest.sequence || output.shape[2] != int64_t(manifest.vocabulary))
    throw Error(manifest.path + ": output \"logits\" has shape " + io::toString(output.shape) +
                ", expected f32 [batch, " + std::to_string(manifest.sequence) + ", " +
                std::to_string(manifest.vocabulary) + "]");
}

static void checkSampler(const SamplerOptions &sampler, const rt::Manifest &manifest) {
  if (sampler.topK > int64_t(manifest.vocabulary))
    throw Error("--top-k " + std::to_string(sampler.topK) + " is more than the model's " +
                std::to_string(manifest.vocabulary) +
                " tokens, so it limits nothing; give a smaller one or leave it out");
}

static void openParameters(Job &job) {
  const GenerateOptions &options = job.options;
  if (!options.checkpoint.empty() && !io::isFile(options.checkpoint)) {
    job.checkpoint = rt::openParameters(options.checkpoint, job.manifest);
    return;
  }
  rt::ParameterFiles files = rt::parameterFiles(job.manifest, "its weights cannot be loaded",
                                                "give --checkpoint a folder that par-run wrote");
  check(job.weights.open(options.checkpoint.empty() ? options.weights : options.checkpoint));
  check(job.weights.match(io::shapesOf(files.tensors)));
}

static void runRanks(Job &job) {
  rt::ProgressBoard board(job.manifest, -1, "token");
  rt::Failure failure(board);
  rt::Watchdog watchdog(board, failure, job.options.timeout);
  comm::LocalWorld world(job.manifest.worldSize);
  io::Threads threads;
  auto body = [&](int rank) {
    try {
      std::unique_ptr<comm::Transport> transport = world.connect(rank);
      Generator(job, board, failure, *transport, rank == 0 ? &watchdog : nullptr, rank).run();
    } catch (const std::bad_alloc &) {
      rt::Failure::endWithoutMemory(rank);
    } catch (const io::ThreadError &error) {
      failure.end(rt::Failure::nobody, "rank " + std::to_string(rank) + ": " + error.what());
    } catch (const rt::FileError &error) {
      failure.end(rt::Failure::nobody, error.what());
    } catch (const Error &error) {
      failure.end(rank, error.what());
    } catch (const std::exception &error) { // a device's
      failure.end(rank, "rank " + std::to_string(rank) + " failed " + board.whereabouts(rank) + ": " +
                            error.what() + "; the run was ended");
    }
  };
  for (int rank = 0; rank < job.manifest.worldSize; ++rank)
    if (io::Status status =
            threads.start("the thread of rank " + std::to_string(rank), [&, rank] { body(rank); });
        !status.ok())
      failure.end(rt::Failure::nobody, status.message());
  threads.join();
}

int generate(const GenerateOptions &options) {
  rt::Launch launch = rt::findLaunch();
  if (!launch.problem.empty())
    throw Error(launch.problem);
  if (launch.size > 1)
    throw Error("par-generate runs all ranks of a package in one process; start it without a launcher (" +
                launch.by + ")");
  Job job{options, rt::openPackage(options.package), {}, nullptr, {}, {}, nullptr, "", 1};
  checkPackage(job.manifest);
  checkSampler(options.sampler, job.manifest);
  job.text = options.isChat ? openChat(options, job.manifest) : openPrompt(options, job.manifest);
  openParameters(job);
  job.schedule = rt::loadSchedules(options.package, job.manifest, "logits");
  int64_t arena = job.manifest.arenaBytes("logits");
  if (std::string problem = rt::deviceMemoryProblem(job.manifest, arena, job.manifest.worldSize);
      !problem.empty())
    throw Error(problem);
  job.threads = std::max(1, cpu::availableCores() / job.manifest.worldSize);
  runRanks(job);
  if (!job.problem.empty())
    throw Error(job.problem);
  return 0;
}

} // namespace par::generating

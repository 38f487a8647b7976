#include "core/TraceFile.h"

#include "core/ActionNames.h"
#include "core/Error.h"
#include "core/Topology.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

namespace par::rt {

static_assert(sizeof(TraceEvent) % sizeof(int64_t) == 0, "events are gathered as words");
static constexpr size_t eventWords = sizeof(TraceEvent) / sizeof(int64_t);

/// The largest number of events of a rank: all gather so much.
static int64_t agreeOnMost(int64_t own, comm::Transport &transport, comm::Group &all) {
  comm::Collective largest;
  largest.op = comm::Op::max;
  largest.type = comm::Type::i64;
  largest.counts = {1};
  void *buffers[2] = {&own, &own};
  check(transport.run(all, largest, buffers));
  return own;
}

std::vector<RankTrace> gatherTraces(const Trace &own, comm::Transport &transport, comm::Group &all) {
  std::vector<TraceEvent> events = own.events();
  auto most = size_t(agreeOnMost(int64_t(events.size()), transport, all));
  const size_t words = 2 + most * eventWords; // behind the numbers of events and of lost ones
  bool isRoot = all.member() == 0;
  std::vector<int64_t> mine(words), gathered(isRoot ? words * size_t(all.size()) : 0);
  mine[0] = int64_t(events.size()), mine[1] = int64_t(own.lost());
  if (!events.empty())
    std::memcpy(&mine[2], events.data(), events.size() * sizeof(TraceEvent));
  comm::Collective gather;
  gather.kind = comm::Kind::gather;
  gather.type = comm::Type::i64;
  gather.counts = {int64_t(words)};
  void *buffers[2] = {mine.data(), gathered.data()};
  check(transport.run(all, gather, buffers));
  std::vector<RankTrace> ranks(isRoot ? size_t(all.size()) : 0);
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const int64_t *told = &gathered[rank * words];
    ranks[rank].events.resize(std::min(size_t(told[0]), most));
    ranks[rank].lost = uint64_t(told[1]);
    if (!ranks[rank].events.empty())
      std::memcpy(ranks[rank].events.data(), told + 2, ranks[rank].events.size() * sizeof(TraceEvent));
  }
  return ranks;
}

namespace {

/// A text of JSON without its quotation marks.
std::string escaped(const std::string &text) {
  std::string result;
  for (char letter : text)
    if (static_cast<unsigned char>(letter) >= 0x20)
      result += letter == '"' || letter == '\\' ? std::string("\\") + letter : std::string(1, letter);
  return result;
}

class Writer {
public:
  Writer(const Manifest &manifest, const std::vector<RankTrace> &ranks)
      : manifest(manifest), names(manifest), ranks(ranks) {
    for (const RankTrace &rank : ranks)
      for (const TraceEvent &event : rank.events)
        zero = std::min(zero, event.begin);
  }

  std::string run() {
    text = "{\"traceEvents\": [";
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      writeRank(int(rank));
    return text + "\n], \"displayTimeUnit\": \"ms\"}\n";
  }

private:
  /// A queue of messages: with which stage, and what is received behind what is sent.
  using Queue = std::pair<int, bool>;

  void writeRank(int rank) {
    const Program &program = manifest.programOf(rank);
    std::set<Queue> queues;
    for (const ManifestMessage &message : program.messages)
      queues.insert({message.stage, !message.sends});
    rows.assign(queues.begin(), queues.end());
    bool isPipeline = stageCount(manifest) > 1;
    stage = stageOf(manifest, rank);
    writeName("process_name", rank, 0,
              "rank " + std::to_string(rank) + (isPipeline ? ", stage " + std::to_string(stage) : ""));
    writeName("thread_name", rank, 0, "actions");
    for (size_t row = 0; row < rows.size(); ++row)
      writeName("thread_name", rank, row + 1,
                (rows[row].second ? "from stage " : "to stage ") + std::to_string(rows[row].first));
    if (!program.collectives.empty())
      writeName("thread_name", rank, rows.size() + 1, "collectives");
    for (const TraceEvent &event : ranks[size_t(rank)].events)
      writeEvent(rank, program, event);
  }

  void writeEvent(int rank, const Program &program, const TraceEvent &event) {
    auto numberOf = [&](const TraceEvent &one) {
      return size_t(one.track == TraceTrack::action ? one.number : firstOf(rank, one));
    };
    const Action &action = program.actions[numberOf(event)];
    switch (event.track) {
    case TraceTrack::action:
      if (beginsMessage(action)) // its queue shows it
        return;
      return write(rank, names.describe(action), endsMessage(action) ? "wait" : action.name,
                   isSum(action) ? rows.size() + 1 : 0, event, action);
    case TraceTrack::message: {
      const ManifestMessage &message = program.messages[size_t(event.number)];
      Queue queue{message.stage, !message.sends};
      size_t row = size_t(std::lower_bound(rows.begin(), rows.end(), queue) - rows.begin());
      return write(rank, names.describe(action), action.name, row + 1, event, action);
    }
    case TraceTrack::collective:
      if (isSum(action)) // which is the action itself
        return;
      const ManifestCollective &what = program.collectives[size_t(event.number)];
      return write(rank, comm::nameOf(what.what.kind) + (" " + nameOf(manifest, what.members)), "collective",
                   rows.size() + 1, event, action);
    }
  }

  /// The manifest's number of the entry that an event belongs to: training is the schedule that is traced.
  int64_t firstOf(int rank, const TraceEvent &event) {
    if (known != rank) {
      known = rank;
      for (const TraceEvent &one : ranks[size_t(rank)].events)
        if (one.track == TraceTrack::action) {
          first = one.number - one.action;
          break;
        }
    }
    return first + event.action;
  }

  void writeName(const char *what, int rank, size_t row, const std::string &name) {
    begin();
    text += "{\"name\": \"" + std::string(what) + "\", \"ph\": \"M\", \"pid\": " + std::to_string(rank) +
            ", \"tid\": " + std::to_string(row) + ", \"args\": {\"name\": \"" + escaped(name) + "\"}}";
  }

  void write(int rank, const std::string &name, const std::string &category, size_t row,
             const TraceEvent &event, const Action &action) {
    begin();
    text += "{\"name\": \"" + escaped(name) + "\", \"cat\": \"" + escaped(category) +
            "\", \"ph\": \"X\", \"ts\": " + microseconds(event.begin - zero) +
            ", \"dur\": " + microseconds(event.end - event.begin) + ", \"pid\": " + std::to_string(rank) +
            ", \"tid\": " + std::to_string(row) + ", \"args\": {\"stage\": " + std::to_string(stage) +
            ", \"action\": " + std::to_string(event.action) + ", \"chunk\": " + std::to_string(action.chunk) +
            ", \"micro_batch\": " + std::to_string(action.microBatch) +
            ", \"step\": " + std::to_string(event.step) + "}}";
  }

  static std::string microseconds(int64_t nanoseconds) {
    char digits[40];
    std::snprintf(digits, sizeof(digits), "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                  int(nanoseconds % 1000));
    return digits;
  }

  void begin() {
    text += isFirst ? "\n" : ",\n";
    isFirst = false;
  }

  const Manifest &manifest;
  const ActionNames names;
  const std::vector<RankTrace> &ranks;
  int64_t zero = INT64_MAX, first = 0;
  int stage = 0, known = -1;
  std::vector<Queue> rows; ///< of the present rank
  std::string text;
  bool isFirst = true;
};

} // namespace

std::string traceText(const Manifest &manifest, const std::vector<RankTrace> &ranks) {
  return Writer(manifest, ranks).run();
}

std::string noteLost(const std::string &path, const std::vector<RankTrace> &ranks) {
  auto most = std::max_element(ranks.begin(), ranks.end(),
                               [](const RankTrace &a, const RankTrace &b) { return a.lost < b.lost; });
  if (most == ranks.end() || most->lost == 0)
    return "";
  return "note: " + path + " has the last " + std::to_string(Trace::mostEvents) +
         " events of a rank; of rank " + std::to_string(most - ranks.begin()) + " " +
         std::to_string(most->lost) + " earlier ones had no room\n";
}

} // namespace par::rt

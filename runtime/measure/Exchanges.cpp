#include "cpu/Context.h"
#include "measure/Measure.h"
#include "measure/ProductRun.h"
#include "measure/RankThreads.h"

namespace par::measure {

namespace {
/// One collective on memory of its own.
class CollectiveRun : public RankWork {
public:
  CollectiveRun(comm::Transport &transport, comm::Group &group, comm::Kind kind, int64_t bytes)
      : transport(transport), group(group) {
    int64_t whole = bytes / 4, part = whole / group.size();
    collective.kind = kind;
    collective.counts = {kind == comm::Kind::all_gather ? part : whole};
    from.assign(size_t(collective.counts[0]), 0.5f);
    to.assign(size_t(comm::destinationCount(kind, collective.counts[0], group.size())), 0);
    transport.reserve(1);
  }
  io::Status run() override {
    bool inPlace = collective.kind == comm::Kind::all_reduce;
    void *buffers[] = {from.data(), inPlace ? from.data() : to.data()};
    return transport.run(group, collective, buffers);
  }

private:
  comm::Transport &transport;
  comm::Group &group;
  comm::Collective collective;
  std::vector<float> from, to;
};

/// A message there and one back.
class MessageRun : public RankWork {
public:
  MessageRun(comm::Transport &transport, int rank, int64_t bytes) : isFirst(rank == 0), data(size_t(bytes)) {
    // Both ends open the way of one direction before that of the other.
    comm::Route *ways[2];
    for (int from = 0; from < 2; ++from)
      ways[from] = transport.route(1 - rank, from == rank, 1, 1);
    out = ways[rank], back = ways[1 - rank];
  }
  io::Status run() override {
    PAR_TRY(send(isFirst ? out : back));
    return send(isFirst ? back : out);
  }

private:
  io::Status send(comm::Route *route) {
    void *buffers[] = {data.data()};
    int64_t bytes[] = {int64_t(data.size())};
    return route->wait(route->post(buffers, bytes, 1));
  }
  bool isFirst;
  std::vector<char> data;
  comm::Route *out = nullptr, *back = nullptr;
};
} // namespace

static MakeRankWork makeCollective(comm::Kind kind, int64_t bytes) {
  return [=](comm::Transport &transport, comm::Group &group, int) {
    return std::make_unique<CollectiveRun>(transport, group, kind, bytes);
  };
}

void startMostThreads() {
  MakeRankWork make = makeCollective(comm::Kind::all_reduce, 64);
  measureRanks(4, make);
  ProductRun product({false, 64, 64, 64});
  measureRanks(2, make, [&] { product.run(); });
}

void measureCollectives(Measurement &into) {
  for (comm::Kind kind :
       {comm::Kind::all_reduce, comm::Kind::all_gather, comm::Kind::reduce_scatter, comm::Kind::all_to_all})
    for (int ranks : {2, 4})
      for (int64_t bytes : {64, 1 << 14, 1 << 17, 1 << 20, 1 << 23, 1 << 25})
        into.collectives.push_back(
            {comm::nameOf(kind), ranks, bytes, measureRanks(ranks, makeCollective(kind, bytes))});
}

void measureMessages(Measurement &into) {
  for (int64_t bytes : {64, 1 << 14, 1 << 17, 1 << 20, 1 << 23}) {
    double both = measureRanks(2, [=](comm::Transport &transport, comm::Group &, int rank) {
      return std::make_unique<MessageRun>(transport, rank, bytes);
    });
    into.messages.push_back({bytes, both / 2});
  }
}

void measureOverlap(Measurement &into) {
  constexpr int64_t bytes = 1 << 22;
  ProductRun product({false, 512, 512, 512});
  double alone = measureSeconds([&] { product.run(); }), beside = alone;
  MakeRankWork make = makeCollective(comm::Kind::all_reduce, bytes);
  double exchange = measureRanks(2, make);
  double slower = measureRanks(2, make, [&] { beside = measureSeconds([&] { product.run(); }); });
  into.overlap = {std::min(1.0, alone / beside), std::min(1.0, exchange / slower)};
}

} // namespace par::measure

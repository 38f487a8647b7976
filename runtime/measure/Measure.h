/// par-measure: how fast this machine computes what rank programs consist of. The planner makes a cluster
/// file of it (docs/Clusters.md, "A machine of your own").
#ifndef PAR_MEASURE_MEASURE_H
#define PAR_MEASURE_MEASURE_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace par::measure {

// Seconds are medians of several short runs, with all threads of the machine at work where nothing else is
// said.

struct ProductFigure {
  bool bf16 = false;
  int64_t m = 0, n = 0, k = 0;
  double seconds = 0;
};

/// A kernel that reads half of `bytes` and writes the other half.
struct KernelFigure {
  int64_t bytes = 0;
  double seconds = 0;
};

/// Causal attention in f32; as many keys as queries, of one sequence.
struct AttentionFigure {
  int64_t headDim = 0, rows = 0, heads = 0;
  bool backward = false;
  double seconds = 0;
};

/// Between threads. `bytes`: of the whole tensor, as docs/Clusters.md has it.
struct CollectiveFigure {
  std::string kind;
  int ranks = 0;
  int64_t bytes = 0;
  double seconds = 0;
};

struct MessageFigure {
  int64_t bytes = 0;
  double seconds = 0;
};

/// Products beside an all-reduce: what each keeps of its rate.
struct OverlapFigure {
  double computeShare = 1, communicateShare = 1;
};

struct Measurement {
  std::string processor; ///< its name, as the system states it
  int cores = 1;         ///< that this process may use
  int64_t memoryBytes = 0;
  double startSeconds = 0; ///< from the end of a kernel to the first work of the next one
  double kernelFlops = 0;  ///< operations per second of an elementwise kernel within the caches
  std::vector<ProductFigure> products;
  std::vector<KernelFigure> kernels;
  std::vector<AttentionFigure> attention;
  std::vector<CollectiveFigure> collectives;
  std::vector<MessageFigure> messages;
  OverlapFigure overlap;
};

/// The name and the memory of this machine.
std::string getProcessorName();
int64_t getMemoryBytes();

/// The median of several runs, each of at least some hundredths of a second, of what `body` takes once.
double measureSeconds(const std::function<void()> &body);

/// Starts as many threads as any part does, so that a limit of them is said at once and not behind minutes of
/// products. Throws std::runtime_error.
void startMostThreads();

// Each adds its figures.
void measureProducts(Measurement &into);
void measureKernels(Measurement &into);
void measureAttention(Measurement &into);
void measureCollectives(Measurement &into);
void measureMessages(Measurement &into);
void measureOverlap(Measurement &into);

/// Told what comes next, and how many of all parts are done.
using ReportPart = std::function<void(const char *part, int done, int all)>;

/// All of it, on an idle machine in some seconds.
Measurement measureMachine(const ReportPart &report);

/// What lib/Planner/MeasuredCluster.cpp reads: in one line, or in as many as people read.
std::string toJson(const Measurement &measurement, bool isLine);

int parMeasureMain(int argc, char **argv);

} // namespace par::measure
#endif

//===- KernelLimits.cpp - what a kernel moves, against what it may --------------------------------------===//
#include "KernelLimits.h"
#include "par/Dialect/Par/IR/Par.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::par;

/// Bytes of all buffers of a launch that takes no longer if it reads them badly.
static constexpr int64_t kFewBytes = 1 << 15;

/// docs/Emulation.md has the reasons.
static Traffic getLimits(StringRef plan) {
  if (plan == "finish") // a lane has a column of f32
    return {1.05, 0, 0.95};
  if (plan == "column") // where a row is shorter than what a warp takes, or ends within a sector
    return {1.05, 0.9, 0.8};
  if (plan == "fill" || plan == "scatter") // rows of the table are read and written for each group of ids
    return {2.1, 0.9, 0.95};
  return {1.05, 0.9, 0.95};
}

LaunchLimits::LaunchLimits(const KernelCase &one, size_t launch)
    : plan(one.getPlan(launch).str()), one(one), launch(launch) {
  int64_t largest = 0, bytes = 0;
  for (int64_t operand : one.getOperands(launch)) {
    RankedTensorType type = one.getType(operand);
    bytes += one.getBytes(operand);
    if (type.getNumElements() <= largest)
      continue;
    row = type.getRank() ? type.getShape().back() : 1;
    largest = type.getNumElements();
  }
  isLimited = bytes >= kFewBytes && !StringRef(plan).starts_with("attention");
  for (int64_t operand : one.getOperands(launch))
    if (isLimited && 2 * one.getType(operand).getNumElements() >= largest)
      judge(operand);
}

/// Of a table as many rows as there are ids.
double LaunchLimits::countNeeded(int64_t operand) const {
  auto bytes = static_cast<double>(one.getBytes(operand));
  rank::WorkOpInterface work = one.work;
  Block &block = work.getBody().front();
  if (operand < static_cast<int64_t>(block.getNumArguments()))
    for (Operation *user : block.getArgument(operand).getUsers())
      if (auto rows = dyn_cast<EmbeddingOp>(user); rows && rows.getTable() == block.getArgument(operand))
        return static_cast<double>(rank::getBytes(rows.getResult().getType()));
  return bytes;
}

void LaunchLimits::judge(int64_t operand) {
  double all = 0, wide = 0;
  for (auto [width, bytes] : one.getMoved(launch, operand)) {
    all += static_cast<double>(bytes);
    wide += static_cast<double>(width == 16 ? bytes : 0);
  }
  if (all == 0)
    return;
  auto [fetched, touched] = one.getSectorUse(launch, operand);
  auto instructions = static_cast<double>(one.countInstructions(operand));
  Traffic traffic{all / countNeeded(operand), wide / all,
                  static_cast<double>(touched) * instructions / static_cast<double>(fetched)};
  worst.worsen(traffic);
  Traffic limits = getLimits(plan);
  if (traffic.moved <= limits.moved && traffic.wide >= limits.wide && traffic.used >= limits.used)
    return;
  std::string text;
  llvm::raw_string_ostream(text) << "operand " << operand << " " << one.getType(operand)
                                 << llvm::format(": %.3f, %.1f %%, %.1f %%", traffic.moved,
                                                 100 * traffic.wide, 100 * traffic.used)
                                 << llvm::format("; may be %.3f, %.1f %%, %.1f %%", limits.moved,
                                                 100 * limits.wide, 100 * limits.used);
  broken.push_back(text);
}

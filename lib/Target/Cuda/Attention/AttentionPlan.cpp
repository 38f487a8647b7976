//===- AttentionPlan.cpp - tiles of the kernels of an attention -----------------------------------===//
#include "AttentionPlan.h"
#include "../KernelEntry.h"
#include "SharedTile.h"

using namespace mlir;
using namespace mlir::par;

/// Of a block, so that an A100 (164 KiB) has one and an H100 (228 KiB) two of the largest at a time.
static constexpr int64_t kMostShared = 96 << 10;
/// The shared memory of a block that has a multiprocessor of an A100 to itself, for heads that do not fit
/// otherwise.
static constexpr int64_t kMostSharedAlone = 163 << 10;
static constexpr int64_t kMostWarps = 4, kMostOthers = 64;
/// Sums of f32 that a thread keeps without spilling, of what it adds up and of the tile that it works on.
static constexpr int64_t kMostSums = 152;
/// A block keeps so many sums with the smallest tile (keys of 192, values of 128). Larger heads are shared by
/// several blocks, each of which computes all scores.
static constexpr int64_t kMostSumsOfOne = 176;
/// Sums with which a thread of a forward pass does with kManyRegisters. By itself ptxas takes 153 for sm_90,
/// and 128 and four bytes of memory for sm_80; asked for 128 it finds them on both, with as many
/// instructions.
static constexpr int64_t kSumsOfMany = 64;
/// The sums of queries' gradients with a cap or with documents that do with as many registers; with both,
/// with dropout, or with a cap and a window, they spill a few bytes.
static constexpr int64_t kSumsOfManyBackward = 96;
/// Rows and columns of the smallest tile.
static constexpr int64_t kSmallest = 16;

StringRef par::getName(AttentionPass pass) {
  static constexpr StringLiteral names[] = {"attention-forward", "attention-queries", "attention-keys"};
  return names[static_cast<size_t>(pass)];
}

SharedPlaces par::placeShared(const AttentionPlan &plan, const AttentionCall &call) {
  SharedPlaces places{};
  auto take = [&](int64_t bytes) {
    int64_t begin = places.end;
    places.end = llvm::alignTo(begin + bytes, kAccessBytes);
    return begin;
  };
  auto takeTile = [&](int64_t rows, int64_t columns) {
    return take(SharedTile::countBytes(call.type, rows, columns));
  };
  bool isForward = plan.pass == AttentionPass::Forward;
  // Forward the queries' place is also where the output lies before it is stored.
  places.own[0] =
      takeTile(plan.countRows(), isForward ? std::max(plan.keys.all, plan.values.sums) : plan.keys.all);
  if (!isForward) // rows of a gradient, or of values, beside each
    places.own[1] = takeTile(plan.countRows(), plan.values.all);
  places.other[0] = takeTile(plan.others, plan.keys.all);
  places.other[1] = takeTile(plan.others, plan.values.all);
  for (int64_t &numbers : places.numbers)
    numbers = take(4 * plan.others);
  if (call.type.isF32()) // bf16 goes from register to register
    places.staging = takeTile(plan.countRows(), plan.others);
  if (call.hasDocuments()) {
    places.documents = take(4 * plan.others);
    places.found = take(8 * plan.warps);
  }
  return places;
}

/// What a thread adds up beside the tile: of each row of its warp, elements of one head or of two.
static int64_t countSums(const AttentionPlan &plan) {
  int64_t columns = plan.pass == AttentionPass::Forward   ? plan.values.sums
                    : plan.pass == AttentionPass::Queries ? plan.keys.sums
                    : plan.isApart                        ? std::max(plan.keys.sums, plan.values.sums)
                                                          : plan.keys.sums + plan.values.sums;
  int64_t tiles = plan.pass == AttentionPass::Forward ? 1 : 2;
  return 16 * plan.bands * (columns + tiles * plan.others) / kWarp;
}

/// Columns of a head; `isAddedUp`: those of what parts share, which are as many in each part.
static HeadColumns divideColumns(int64_t elements, int64_t parts, bool isAddedUp) {
  auto upToTile = [](int64_t count) { return static_cast<int64_t>(llvm::alignTo(count, kSmallest)); };
  int64_t part = upToTile(llvm::divideCeilSigned(elements, parts));
  return {isAddedUp ? parts * part : upToTile(elements), part};
}

static void divideHead(AttentionPlan &plan, const AttentionCall &call, int64_t parts) {
  plan.parts = parts;
  plan.keys = divideColumns(call.headDim, parts, plan.pass != AttentionPass::Forward);
  plan.values = divideColumns(call.valueDim, parts, plan.pass != AttentionPass::Queries);
}

/// Among as many blocks as it takes. Of two, one has keys' gradients and one values': the latter needs no
/// gradients of probabilities.
static void shareSums(AttentionPlan &plan, const AttentionCall &call) {
  plan.parts = 2;
  plan.isApart = plan.pass == AttentionPass::Keys;
  if (plan.isApart && countSums(plan) <= kMostSums)
    return;
  plan.isApart = false;
  for (int64_t parts = 2; countSums(plan) > kMostSums; ++parts)
    divideHead(plan, call, parts);
}

/// Makes tiles smaller until they fit; false if the smallest do not.
static bool fitShared(AttentionPlan &plan, const AttentionCall &call, int64_t most) {
  while (placeShared(plan, call).end > most) {
    if (plan.others > kSmallest)
      plan.others /= 2;
    else if (plan.warps > 1)
      --plan.warps;
    else
      return false;
  }
  return true;
}

/// Chooses registers of a thread of queries' gradients: by itself ptxas takes 156 with documents and 137 with
/// a cap for sm_90.
static int64_t chooseBackwardRegisters(const AttentionPlan &plan, const AttentionCall &call) {
  bool isOne = call.hasDocuments() ? call.cap == 0 : call.cap > 0 && call.window == 0;
  bool isSmall = call.type.isBF16() && call.dropout == 0 && countSums(plan) == kSumsOfManyBackward;
  return plan.pass == AttentionPass::Queries && isOne && isSmall ? kManyRegisters : 0;
}

/// Chooses the registers of a thread (Launch::registers). In f32 an H100's shared memory has room for few
/// blocks: registers for more are of no use. By itself ptxas looks for them, and spills with a window.
static int64_t chooseRegisters(const AttentionPlan &plan, const AttentionCall &call) {
  constexpr int64_t kShared = 228 << 10, kSharedOfSystem = 1 << 10; // of a multiprocessor, of a block
  if (plan.pass != AttentionPass::Forward)
    return chooseBackwardRegisters(plan, call);
  if (call.type.isF32()) {
    int64_t blocks = kShared / (plan.sharedBytes + kSharedOfSystem);
    return blocks <= 2 ? 2 * kManyRegisters : 0;
  }
  bool isPlain = call.dropout == 0; // with dropout 128 registers do not suffice
  return isPlain && countSums(plan) == kSumsOfMany ? kManyRegisters : 0;
}

std::optional<AttentionPlan> par::planAttention(const AttentionCall &call, AttentionPass pass) {
  int64_t ownRows = call.qRows, otherRows = call.kRows;
  if (pass == AttentionPass::Keys)
    std::swap(ownRows, otherRows);
  AttentionPlan plan;
  plan.pass = pass;
  divideHead(plan, call, 1);
  plan.warps = std::min(kMostWarps, llvm::divideCeilSigned(ownRows, kSmallest));
  plan.others = std::min<int64_t>(kMostOthers, llvm::PowerOf2Ceil(std::max(otherRows, kSmallest)));
  while (plan.others > kSmallest && countSums(plan) > kMostSums)
    plan.others /= 2;
  if (countSums(plan) > kMostSumsOfOne)
    shareSums(plan, call);
  if (AttentionPlan larger = plan; !fitShared(plan, call, kMostShared)) {
    plan = larger;
    if (!fitShared(plan, call, kMostSharedAlone))
      return std::nullopt;
  }
  plan.sharedBytes = placeShared(plan, call).end;
  plan.registers = chooseRegisters(plan, call);
  return plan;
}

int64_t par::getAttentionScratchBytes(rank::AttentionAttr attention) {
  return 4 * attention.getBatch() * attention.getKvHeads() * attention.getGroup() * attention.getQRows();
}

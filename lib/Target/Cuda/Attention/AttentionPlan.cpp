//===- AttentionPlan.cpp - tiles of the kernels of an attention -----------------------------------===//
#include "AttentionPlan.h"
#include "../KernelEntry.h"
#include "SharedTile.h"

using namespace mlir;
using namespace mlir::par;

/// Of a block, so that an A100 (164 KiB) has one and an H100 (228 KiB) two of the largest at a time.
static constexpr int64_t kMostShared = 96 << 10;
static constexpr int64_t kMostWarps = 4, kMostOthers = 64;
/// Sums of f32 that a thread keeps without spilling, of what it adds up and of the tile that it works on.
static constexpr int64_t kMostSums = 152;
/// Sums with which a thread of a forward pass does with kManyRegisters. By itself ptxas takes 153 for sm_90,
/// and 128 and four bytes of memory for sm_80; asked for 128 it finds them on both, with as many
/// instructions.
static constexpr int64_t kSumsOfMany = 64;
/// Rows and columns of the smallest tile.
static constexpr int64_t kSmallest = 16;

StringRef par::getName(AttentionPass pass) {
  static constexpr StringLiteral names[] = {"attention-forward", "attention-queries", "attention-keys"};
  return names[static_cast<size_t>(pass)];
}

SharedPlaces par::placeShared(const AttentionPlan &plan, Type type) {
  SharedPlaces places{};
  auto take = [&](int64_t bytes) {
    int64_t begin = places.end;
    places.end = llvm::alignTo(begin + bytes, kAccessBytes);
    return begin;
  };
  bool isForward = plan.pass == AttentionPass::Forward;
  for (int64_t number : {0, 1})
    if (number == 0 || !isForward) // backward: rows of a gradient beside each
      places.own[number] = take(SharedTile::countBytes(type, plan.countRows(), plan.columns));
  for (int64_t &other : places.other)
    other = take(SharedTile::countBytes(type, plan.others, plan.columns));
  for (int64_t &numbers : places.numbers)
    numbers = take(4 * plan.others);
  if (type.isF32()) // bf16 goes from register to register
    places.staging = take(SharedTile::countBytes(type, plan.countRows(), plan.others));
  return places;
}

/// What a thread adds up beside the tile: of each row of its warp, elements of one head or of two.
static int64_t countSums(const AttentionPlan &plan) {
  int64_t heads = plan.pass == AttentionPass::Keys ? 2 : 1;
  int64_t tiles = plan.pass == AttentionPass::Forward ? 1 : 2;
  return 16 * plan.bands * (heads * plan.columns + tiles * plan.others) / kWarp;
}

/// Of a thread of a forward pass (Launch::registers). In f32 an H100's shared memory has room for few blocks:
/// registers for more are of no use. By itself ptxas looks for them, and spills with a window.
static int64_t chooseRegisters(const AttentionPlan &plan, const AttentionCall &call) {
  constexpr int64_t kShared = 228 << 10, kSharedOfSystem = 1 << 10; // of a multiprocessor, of a block
  if (plan.pass != AttentionPass::Forward)
    return 0;
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
  plan.columns = static_cast<int64_t>(llvm::alignTo(call.headDim, kSmallest));
  plan.warps = std::min(kMostWarps, llvm::divideCeilSigned(ownRows, kSmallest));
  plan.others = std::min<int64_t>(kMostOthers, llvm::PowerOf2Ceil(std::max(otherRows, kSmallest)));
  while (plan.others > kSmallest && countSums(plan) > kMostSums)
    plan.others /= 2;
  while (placeShared(plan, call.type).end > kMostShared) {
    if (plan.others > kSmallest)
      plan.others /= 2;
    else if (plan.warps > 1)
      --plan.warps;
    else
      return std::nullopt;
  }
  plan.sharedBytes = placeShared(plan, call.type).end;
  plan.registers = chooseRegisters(plan, call);
  return plan;
}

int64_t par::getAttentionScratchBytes(rank::AttentionAttr attention) {
  return 4 * attention.getBatch() * attention.getKvHeads() * attention.getGroup() * attention.getQRows();
}

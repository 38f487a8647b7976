//===- PlanPins.cpp - what a search may not change ------------------------------------------------------===//
#include "par/Planner/PlanPins.h"
#include "par/Compile/PlanFlags.h"
#include "par/Planner/CheckPins.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <array>

using namespace mlir::par;
using llvm::Error;
using llvm::StringRef;

static constexpr llvm::StringLiteral kAxes[] = {kPipelineAxis, "dp", "dp_shard", "tp"};

void mlir::par::describePlanFlags(Flags &flags, PlanRequest &request) {
  describeModelFlags(flags, request.plan);
  describeTrainingFlags(flags, request.plan);
  describeShardingFlags(flags, request.plan);
  describeProgramFlags(flags, request.plan);
}

/// What a search decides: the rest is a size or a type, which stays as it is.
static bool isSearched(const PlanField &field) {
  static constexpr llvm::StringLiteral names[] = {
      "overlap",  "micro_batches", "zero", "sequence_parallel", "zero3_gather", "recompute", "offload",
      "schedule", "chunks",        "cuts"};
  return llvm::is_contained(names, field.name);
}

static void pinMesh(PlanRequest &request) {
  for (StringRef axis : kAxes)
    request.pinned.insert(axis.str());
}

static Error pinAxis(PlanRequest &request, StringRef axis, StringRef value) {
  int64_t size;
  if (value.getAsInteger(10, size) || size < 1)
    return makeError(" is '" + value + "', expected a number of ranks");
  llvm::erase_if(request.plan.mesh, [&](auto &known) { return known.first == axis; });
  request.plan.mesh.emplace_back(axis.str(), size);
  return request.pinned.insert(axis.str()).second
             ? Error::success()
             : makeError(" is pinned twice; give --pin " + axis + " or --mesh once");
}

/// By the flag of that name.
static Error pinField(PlanRequest &request, const PlanField &field, StringRef value) {
  if (!request.pinned.insert(field.name.str()).second)
    return makeError(" is pinned twice; give it once");
  if (field.name == "sequence_parallel") {
    if (value != "on" && value != "off")
      return makeError(" is '" + value + "', expected on or off");
    request.plan.sequenceParallel = value == "on";
    return Error::success();
  }
  Flags flags("par-plan", "");
  describePlanFlags(flags, request);
  return flags.set(field.flag, value);
}

static Error pin(PlanRequest &request, StringRef text) {
  StringRef key = text.split('=').first, value = text.split('=').second;
  if (value.empty())
    return makeError(" is no key=value");
  if (llvm::is_contained(kAxes, key))
    return pinAxis(request, key, value);
  std::optional<PlanField> found;
  std::vector<std::string> known(std::begin(kAxes), std::end(kAxes));
  visitFields(
      [&](const PlanField &field, const auto &) {
        if (!isSearched(field))
          return;
        known.push_back(field.flag.str());
        if (key == field.flag || key == field.name)
          found.emplace(field);
      },
      request.plan);
  return found ? pinField(request, *found, value)
               : makeError(": unknown key '" + key + "', expected " + llvm::join(known, ", "));
}

/// Ranks of the axes that are pinned, or the most that can be counted.
static uint64_t countPinnedRanks(const PlanRequest &request) {
  int64_t data = request.isPinned("dp") ? request.countDataRanks() : request.plan.getAxis("dp_shard");
  auto product = static_cast<uint64_t>(data);
  for (StringRef axis : {StringRef(kPipelineAxis), StringRef("tp")})
    if (request.isPinned(axis))
      product = llvm::SaturatingMultiply(product, static_cast<uint64_t>(request.plan.getAxis(axis)));
  return product;
}

static Error checkAxes(const PlanRequest &request) {
  for (auto &[axis, size] : request.plan.mesh)
    if (!llvm::is_contained(kAxes, axis) && axis != "dp_replicate" && size > 1)
      return makeError("--mesh " + printMesh(request.plan.mesh) + ": the search knows no axis " + axis +
                       " yet; give pp, dp and tp");
  if (int64_t group = request.plan.getAxis("dp_shard"), data = request.countDataRanks();
      request.isPinned("dp") && data % group)
    return makeError("--pin dp_shard=" + llvm::Twine(group) + ": does not divide dp=" + llvm::Twine(data) +
                     "; give a divisor, or pin less");
  uint64_t product = countPinnedRanks(request);
  bool isWhole = llvm::all_of(std::array<StringRef, 3>{kPipelineAxis, "dp", "tp"},
                              [&](StringRef axis) { return request.isPinned(axis); });
  auto ranks = static_cast<uint64_t>(request.ranks);
  if (ranks % product || (isWhole && product != ranks))
    return makeError("--ranks " + llvm::Twine(request.ranks) + ": the pinned axes " +
                     printMesh(request.plan.mesh) + " are of " + llvm::Twine(product) + " ranks; give " +
                     (isWhole ? "as many" : "a multiple of that") + ", or pin less");
  return Error::success();
}

Error mlir::par::takePins(PlanRequest &request, const std::set<std::string> &given,
                          llvm::ArrayRef<std::string> pins) {
  visitFields(
      [&](const PlanField &field, const auto &) {
        if (isSearched(field) && given.count(field.flag.str()))
          request.pinned.insert(field.name.str());
      },
      request.plan);
  if (given.count("mesh"))
    pinMesh(request);
  for (const std::string &text : pins)
    if (Error error = pin(request, text))
      return makeError("--pin " + text + llvm::toString(std::move(error)));
  if (Error error = checkAxes(request))
    return error;
  return checkPins(request);
}

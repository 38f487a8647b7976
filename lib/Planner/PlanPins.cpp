//===- PlanPins.cpp - what a search may not change ------------------------------------------------------===//
#include "par/Planner/PlanPins.h"
#include "par/Compile/PlanFlags.h"
#include "par/Planner/CheckPins.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::par;
using llvm::Error;
using llvm::StringRef;

/// Axes that may be pinned, outermost first: one of each role that is searched, and ZeRO's groups.
static std::vector<StringRef> listAxes() {
  std::vector<StringRef> names;
  for (const AxisKind &axis : getAxisKinds())
    if (axis.name == getGroupAxis() ||
        llvm::any_of(kSearchedRoles, [&](AxisRole role) { return axis.name == getAxisName(role); }))
      names.push_back(axis.name);
  return names;
}

void mlir::par::describePlanFlags(Flags &flags, PlanRequest &request) {
  flags.section("A step, and its ranks");
  describeModelFlags(flags, request.plan);
  flags.section("What is trained");
  describeTrainingFlags(flags, request.plan);
  flags.section("How tensors are divided");
  describeShardingFlags(flags, request.plan);
  flags.section("How programs run: overlap, memory, pipelines, target");
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
  for (StringRef axis : listAxes())
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
  if (llvm::is_contained(listAxes(), key))
    return pinAxis(request, key, value);
  std::optional<PlanField> found;
  std::vector<StringRef> known = listAxes();
  visitFields(
      [&](const PlanField &field, const auto &) {
        if (!isSearched(field))
          return;
        known.push_back(field.flag);
        if (key == field.flag || key == field.name)
          found.emplace(field);
      },
      request.plan);
  return found ? pinField(request, *found, value)
               : makeError(": unknown key '" + key + "', expected " + llvm::join(known, ", "));
}

/// Ranks of the axes that are pinned, or the most that can be counted.
static uint64_t countPinnedRanks(const PlanRequest &request) {
  int64_t data = request.isPinned(AxisRole::Batch) ? request.countDataRanks() : request.countGroupRanks();
  auto product = static_cast<uint64_t>(data);
  for (AxisRole role : kSearchedRoles)
    if (role != AxisRole::Batch && request.isPinned(role))
      product = llvm::SaturatingMultiply(product, static_cast<uint64_t>(request.plan.countRanks(role)));
  return product;
}

static Error checkAxes(const PlanRequest &request) {
  for (auto &[axis, size] : request.plan.mesh)
    if (!llvm::is_contained(listAxes(), axis) && getWholeAxis(axis).empty() && size > 1)
      return makeError("--mesh " + printMesh(request.plan.mesh) + ": the search knows no axis " + axis +
                       " yet; give pp, dp and tp");
  if (int64_t group = request.countGroupRanks(), data = request.countDataRanks();
      request.isPinned(AxisRole::Batch) && data % group)
    return makeError("--pin " + getGroupAxis() + "=" + llvm::Twine(group) + ": does not divide " +
                     getAxisName(AxisRole::Batch) + "=" + llvm::Twine(data) +
                     "; give a divisor, or pin less");
  uint64_t product = countPinnedRanks(request);
  bool isWhole = llvm::all_of(kSearchedRoles, [&](AxisRole role) { return request.isPinned(role); });
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

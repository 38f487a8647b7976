//===- Axes.cpp - the axes of a mesh and their roles ----------------------------------------------------===//
#include "par/Plan/Axes.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir::par;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename... Roles>
static constexpr uint8_t join(Roles... roles) {
  return (static_cast<uint8_t>(roles) | ...);
}

static constexpr AxisKind kAxes[] = {
    {"pp", join(AxisRole::Pipeline), ""},
    {"dp", join(AxisRole::Batch, AxisRole::State), ""},
    {"dp_replicate", join(AxisRole::Batch), "dp"},
    {"dp_shard", join(AxisRole::Batch, AxisRole::State), "dp"},
    {"cp", join(AxisRole::Sequence, AxisRole::State), ""},
    {"tp", join(AxisRole::Tensor), ""},
    {"ep", join(AxisRole::Experts), "", /*isView=*/true},
};

llvm::ArrayRef<AxisKind> mlir::par::getAxisKinds() { return kAxes; }

static const AxisKind *findAxis(StringRef name) {
  const auto *found = llvm::find_if(kAxes, [&](const AxisKind &axis) { return axis.name == name; });
  return found == std::end(kAxes) ? nullptr : found;
}

StringRef mlir::par::getWholeAxis(StringRef name) {
  const AxisKind *kind = findAxis(getUserAxis(name));
  return kind ? StringRef(kind->of) : StringRef();
}

bool mlir::par::isPartOf(StringRef name, StringRef axis) {
  if (name == axis || (name.starts_with(axis) && name.drop_front(axis.size()).starts_with(".")))
    return true;
  return !axis.empty() && getWholeAxis(name) == axis;
}

bool mlir::par::hasRole(StringRef name, AxisRole role) {
  const AxisKind *kind = findAxis(getUserAxis(name));
  return kind && kind->has(role);
}

StringRef mlir::par::getAxisName(AxisRole role) {
  return llvm::find_if(kAxes, [&](const AxisKind &axis) { return axis.has(role); })->name;
}

std::pair<StringRef, StringRef> mlir::par::getStateParts(StringRef axis) {
  std::pair<StringRef, StringRef> parts;
  for (const AxisKind &kind : kAxes)
    if (kind.of == axis)
      (kind.has(AxisRole::State) ? parts.second : parts.first) = kind.name;
  return parts;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// More than any cluster has; beyond, sizes of shards are no numbers that mean anything.
static constexpr int64_t kMostRanks = 1 << 24;

bool mlir::par::isGivenAxis(StringRef name) {
  const AxisKind *kind = findAxis(name);
  return kind && !kind->isView;
}

std::string mlir::par::listAxisNames() {
  std::vector<StringRef> names;
  for (const AxisKind &axis : kAxes)
    if (!axis.isView)
      names.push_back(axis.name);
  StringRef last = names.back();
  names.pop_back();
  return llvm::join(names, ", ") + " or " + last.str();
}

static llvm::Error parseEntries(StringRef text, llvm::StringMap<int64_t> &sizes) {
  llvm::SmallVector<StringRef> entries;
  if (!text.empty())
    text.split(entries, ',');
  for (StringRef entry : entries) {
    auto [name, number] = entry.split('=');
    int64_t size;
    if (number.getAsInteger(10, size) || size < 1)
      return makeError("\"" + entry + "\" is not axis=size with a size of at least 1");
    if (!isGivenAxis(name))
      return makeError("unknown axis \"" + name + "\", expected " + listAxisNames());
    if (size > kMostRanks)
      return makeError("more than " + Twine(kMostRanks) + " ranks");
    if (!sizes.try_emplace(name, size).second)
      return makeError("axis \"" + name + "\" is given twice");
  }
  return llvm::Error::success();
}

/// Completes the parts of an axis where it is given beside one or both of them, and takes it out.
static llvm::Error completeParts(StringRef axis, llvm::StringMap<int64_t> &sizes) {
  auto [outer, inner] = getStateParts(axis);
  auto whole = sizes.find(axis);
  if (outer.empty() || whole == sizes.end() || !(sizes.count(outer) || sizes.count(inner)))
    return llvm::Error::success();
  int64_t size = whole->second, known = 1;
  for (StringRef part : {outer, inner})
    known *= sizes.count(part) ? sizes[part] : 1;
  bool both = sizes.count(outer) && sizes.count(inner);
  if (both ? known != size : size % known != 0)
    return makeError(axis + "=" + Twine(size) + " is not " + outer + " x " + inner +
                     (both ? " = " + Twine(known) : " for a part of " + Twine(known)) + "; leave " + axis +
                     " out or give their product");
  if (!both)
    sizes[sizes.count(outer) ? inner : outer] = size / known;
  sizes.erase(axis);
  return llvm::Error::success();
}

llvm::Expected<NamedAxes> mlir::par::parseMeshAxes(StringRef text) {
  llvm::StringMap<int64_t> sizes;
  if (llvm::Error error = parseEntries(text, sizes))
    return std::move(error);
  for (const AxisKind &axis : kAxes)
    if (llvm::Error error = completeParts(axis.name, sizes))
      return std::move(error);
  NamedAxes axes;
  int64_t ranks = 1;
  for (const AxisKind &axis : kAxes)
    if (auto found = sizes.find(axis.name); found != sizes.end()) {
      axes.emplace_back(axis.name.str(), found->second);
      if ((ranks *= found->second) > kMostRanks)
        return makeError("more than " + Twine(kMostRanks) + " ranks");
    }
  return axes;
}

NamedAxes mlir::par::makeMesh(std::initializer_list<std::pair<AxisRole, int64_t>> ranks) {
  NamedAxes axes;
  for (auto [role, size] : ranks)
    axes.emplace_back(getAxisName(role).str(), size);
  return axes;
}

int64_t mlir::par::countRanks(const NamedAxes &axes, AxisRole role) {
  int64_t ranks = 1;
  for (const AxisKind &kind : kAxes)
    if (kind.has(role))
      for (auto &[name, size] : axes)
        ranks *= name == kind.name ? size : 1;
  return ranks;
}

static size_t getPosition(StringRef name) { return findAxis(name) - kAxes; }

void mlir::par::resizeAxis(NamedAxes &axes, StringRef name, int64_t size) {
  llvm::erase_if(axes, [&](auto &axis) { return axis.second == 1 || axis.first == name; });
  auto behind = llvm::find_if(axes, [&](auto &axis) { return getPosition(axis.first) > getPosition(name); });
  axes.emplace(behind, name.str(), size);
}

void mlir::par::divideState(NamedAxes &axes, StringRef axis, int64_t ranks) {
  auto [outer, inner] = getStateParts(axis);
  auto whole = llvm::find_if(axes, [&](auto &each) { return each.first == axis; });
  int64_t groups = whole->second / ranks;
  *whole = {outer.str(), groups};
  axes.insert(std::next(whole), {inner.str(), ranks});
}

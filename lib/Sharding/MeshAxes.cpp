//===- MeshAxes.cpp - what the axes of a mesh are for ---------------------------------------------------===//
#include "par/Sharding/MeshAxes.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::par;

/// Outermost first: neighbours along the last axis have neighbouring rank numbers.
static constexpr llvm::StringLiteral kAxisOrder[] = {"pp", "dp", "dp_replicate", "dp_shard", "cp", "tp"};
/// More than any cluster has; beyond, sizes of shards are no numbers that mean anything.
static constexpr int64_t kMostRanks = 1 << 24;

static llvm::Error parseEntries(StringRef text, llvm::StringMap<int64_t> &sizes) {
  SmallVector<StringRef> entries;
  if (!text.empty())
    text.split(entries, ',');
  for (StringRef entry : entries) {
    auto [name, number] = entry.split('=');
    int64_t size;
    if (number.getAsInteger(10, size) || size < 1)
      return makeError("\"" + entry + "\" is not axis=size with a size of at least 1");
    if (!llvm::is_contained(kAxisOrder, name))
      return makeError("unknown axis \"" + name + "\", expected pp, dp, dp_replicate, dp_shard, cp or tp");
    if (size > kMostRanks)
      return makeError("more than " + llvm::Twine(kMostRanks) + " ranks");
    if (!sizes.try_emplace(name, size).second)
      return makeError("axis \"" + name + "\" is given twice");
  }
  return llvm::Error::success();
}

/// Completes the parts of dp where dp is given beside one or both of them, and takes dp out.
static llvm::Error refineData(llvm::StringMap<int64_t> &sizes) {
  auto whole = sizes.find("dp"), replicate = sizes.find("dp_replicate"), shard = sizes.find("dp_shard");
  if (whole == sizes.end() || (replicate == sizes.end() && shard == sizes.end()))
    return llvm::Error::success();
  int64_t dp = whole->second, known = 1;
  for (auto part : {replicate, shard})
    if (part != sizes.end())
      known *= part->second;
  bool both = replicate != sizes.end() && shard != sizes.end();
  if (both ? known != dp : dp % known != 0)
    return makeError("dp=" + llvm::Twine(dp) + " is not dp_replicate x dp_shard" +
                     (both ? " = " + llvm::Twine(known) : " for a part of " + llvm::Twine(known)) +
                     "; leave dp out or give their product");
  if (!both)
    sizes[replicate == sizes.end() ? "dp_replicate" : "dp_shard"] = dp / known;
  sizes.erase("dp");
  return llvm::Error::success();
}

llvm::Expected<NamedAxes> par::parseMeshAxes(StringRef text) {
  llvm::StringMap<int64_t> sizes;
  if (llvm::Error error = parseEntries(text, sizes))
    return std::move(error);
  if (llvm::Error error = refineData(sizes))
    return std::move(error);
  NamedAxes axes;
  int64_t ranks = 1;
  for (StringRef name : kAxisOrder)
    if (auto found = sizes.find(name); found != sizes.end()) {
      axes.emplace_back(name.str(), found->second);
      if ((ranks *= found->second) > kMostRanks)
        return makeError("more than " + llvm::Twine(kMostRanks) + " ranks");
    }
  return axes;
}

static bool isDataAxis(StringRef name) {
  StringRef user = MeshAttr::getParentAxis(name);
  return user == "dp" || user == "dp_replicate" || user == "dp_shard";
}

int64_t par::countDataRanks(const NamedAxes &axes) {
  int64_t ranks = 1;
  for (auto &[name, size] : axes)
    ranks *= isDataAxis(name) ? size : 1;
  return ranks;
}

static bool isStateAxis(StringRef name) {
  StringRef user = MeshAttr::getParentAxis(name);
  return user == "dp" || user == "dp_shard" || user == "cp";
}

int64_t par::countStateRanks(const NamedAxes &axes) {
  int64_t ranks = 1;
  for (auto &[name, size] : axes)
    ranks *= isStateAxis(name) ? size : 1;
  return ranks;
}

static Axes selectAxes(MeshAttr mesh, llvm::function_ref<bool(StringRef)> wanted) {
  Axes axes;
  for (StringAttr axis : mesh.getNames())
    if (mesh.getSize(axis.getValue()) > 1 && wanted(axis.getValue()))
      axes.push_back(axis);
  return axes;
}

Axes par::getDataAxes(MeshAttr mesh) { return selectAxes(mesh, isDataAxis); }

Axes par::getStateAxes(MeshAttr mesh) { return selectAxes(mesh, isStateAxis); }

Axes par::getTensorAxes(MeshAttr mesh) {
  return selectAxes(mesh, [](StringRef name) { return MeshAttr::getParentAxis(name) == "tp"; });
}

//===- MeshViews.cpp - other names over the ranks of a mesh ---------------------------------------------===//
#include "par/Sharding/MeshViews.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "par/Plan/Axes.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::par;

using NamedSizes = ArrayRef<std::pair<StringRef, int64_t>>;

static std::string print(NamedSizes axes) {
  return llvm::join(
      llvm::map_range(axes, [](auto &axis) { return (axis.first + "=" + Twine(axis.second)).str(); }), ",");
}

namespace {
/// A part of an axis of both numberings.
struct Part {
  size_t over = 0, into = 0; ///< numbers of the axes
  int64_t size = 1;
};
} // namespace

/// Walks both lists from the innermost axis outwards: each part is as large as what is left of both axes.
static llvm::Expected<SmallVector<Part>> findParts(NamedSizes over, NamedSizes into) {
  SmallVector<Part> parts;
  size_t i = over.size(), j = into.size();
  int64_t left = 1, right = 1; // of the axes i and j
  while (true) {
    for (; left == 1 && i > 0; left = over[i].second)
      --i;
    for (; right == 1 && j > 0; right = into[j].second)
      --j;
    if (left == 1 && right == 1)
      break;
    int64_t size = std::min(left, right);
    if (size == 1 || left % size || right % size)
      return makeError(print(over) + " and " + print(into) +
                       (size == 1
                            ? " have different numbers of ranks"
                            : " have no common refinement: no axis of one begins and ends with parts of "
                              "the other"));
    parts.push_back({i, j, size});
    left /= size, right /= size;
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

namespace {
/// The mesh that both numberings have in common.
class Refinement {
public:
  Refinement(MeshAttr mesh, NamedSizes over, NamedSizes into, ArrayRef<Part> parts)
      : mesh(mesh), over(over), into(into), parts(parts) {}

  MeshAttr build() {
    for (auto [name, size] : llvm::zip(mesh.getNames(), mesh.getSizes())) {
      const auto *axis = llvm::find_if(over, [&, name = name](auto &each) { return each.first == name; });
      if (axis == over.end() || axis->second == 1)
        add(name, size);
      else
        addParts(axis - over.begin());
    }
    for (MeshViewAttr view : mesh.getViews())
      addView(view.getName().getValue(), expand(view.getAxes()));
    for (size_t axis = 0; axis < over.size(); ++axis)
      if (SmallVector<StringAttr> own = list(&Part::over, axis); !isNamedFor(over[axis].first, own))
        addView(over[axis].first, own);
    for (size_t axis = 0; axis < into.size(); ++axis)
      if (SmallVector<StringAttr> own = list(&Part::into, axis); !isNamedFor(into[axis].first, own))
        addView(into[axis].first, own);
    return MeshAttr::get(mesh.getContext(), names, sizes, views);
  }

private:
  StringAttr text(const Twine &name) const { return StringAttr::get(mesh.getContext(), name); }

  void add(StringAttr name, int64_t size) {
    names.push_back(name);
    sizes.push_back(size);
  }

  void addParts(size_t axis) {
    for (const Part &part : parts)
      if (part.over == axis)
        add(getName(part), part.size);
  }

  void addView(StringRef name, ArrayRef<StringAttr> axes) {
    views.push_back(MeshViewAttr::get(mesh.getContext(), text(name), axes));
  }

  /// A part that `into` has as a refinement of the axis has its name there.
  StringAttr getName(const Part &part) const {
    StringRef axis = over[part.over].first;
    if (part.size == over[part.over].second)
      return text(axis);
    auto [name, size] = into[part.into];
    if (part.size == size && isPartOf(name, axis))
      return text(name);
    ArrayRef<Part> before(parts.begin(), &part);
    return text(axis + "." +
                Twine(llvm::count_if(before, [&](const Part &other) { return other.over == part.over; })));
  }

  /// The parts that an axis of one of the numberings consists of.
  SmallVector<StringAttr> list(size_t Part::*side, size_t axis) const {
    SmallVector<StringAttr> own;
    for (const Part &part : parts)
      if (part.*side == axis)
        own.push_back(getName(part));
    return own;
  }

  /// The axis needs no view: it is an axis still, or its parts say whose they are.
  bool isNamedFor(StringRef axis, ArrayRef<StringAttr> own) const {
    return llvm::any_of(names, [&](StringAttr name) { return name.getValue() == axis; }) ||
           (!own.empty() &&
            llvm::all_of(own, [&](StringAttr part) { return isPartOf(part.getValue(), axis); }));
  }

  SmallVector<StringAttr> expand(ArrayRef<StringAttr> axes) const {
    SmallVector<StringAttr> expanded;
    for (StringAttr name : axes) {
      const auto *axis = llvm::find_if(over, [&](auto &each) { return each.first == name; });
      if (axis == over.end() || axis->second == 1)
        expanded.push_back(name);
      else
        llvm::append_range(expanded, list(&Part::over, axis - over.begin()));
    }
    return expanded;
  }

  const MeshAttr mesh;
  const NamedSizes over, into;
  const ArrayRef<Part> parts;
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SmallVector<MeshViewAttr> views;
};
} // namespace

/// Axes of the mesh that are neighbours, in its order.
static llvm::Expected<SmallVector<std::pair<StringRef, int64_t>>> findAdjacent(MeshAttr mesh,
                                                                               ArrayRef<StringRef> names) {
  SmallVector<std::pair<StringRef, int64_t>> axes;
  for (StringRef name : names)
    for (StringAttr axis : mesh.getAxes(name))
      axes.emplace_back(axis.getValue(), mesh.getSize(axis.getValue()));
  for (auto [number, axis] : llvm::enumerate(axes))
    if (mesh.getPosition(axis.first) != mesh.getPosition(axes.front().first) + static_cast<int64_t>(number))
      axes.clear();
  if (axes.empty())
    return makeError(llvm::join(names, ",") + " are no axes of the mesh that are neighbours, in its order");
  return axes;
}

llvm::Expected<MeshAttr> par::refineMesh(MeshAttr mesh, ArrayRef<StringRef> over, NamedSizes into) {
  auto axes = findAdjacent(mesh, over);
  if (!axes)
    return axes.takeError();
  for (auto &[name, size] : into)
    if (mesh.hasName(name) ||
        llvm::count_if(into, [&, name = name](auto &other) { return other.first == name; }) > 1)
      return makeError("\"" + name + "\" is taken already; give another name");
  llvm::Expected<SmallVector<Part>> parts = findParts(*axes, into);
  if (!parts)
    return parts.takeError();
  return Refinement(mesh, *axes, into, *parts).build();
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

static SmallVector<StringAttr> resolve(MeshAttr mesh, ArrayRef<StringAttr> names) {
  SmallVector<StringAttr> axes;
  for (StringAttr name : names)
    llvm::append_range(axes, mesh.getAxes(name.getValue()));
  return axes;
}

void par::resolveViews(ModuleOp module) {
  MeshAttr mesh = getMesh(module);
  bool hasOthers =
      mesh && llvm::any_of(mesh.getNames(), [&](StringAttr axis) {
        return getUserAxis(axis.getValue()) != axis.getValue() || !getWholeAxis(axis.getValue()).empty();
      });
  if (!mesh || (mesh.getViews().empty() && !hasOthers))
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](ShardingAttr sharding) {
    SmallVector<DimShardingAttr> dims;
    for (DimShardingAttr dim : sharding.getDims())
      dims.push_back(DimShardingAttr::get(dim.getContext(), resolve(mesh, dim.getAxes()), dim.getOpen()));
    return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims,
                             resolve(mesh, sharding.getReplicated()), resolve(mesh, sharding.getUnreduced()));
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true);
}

void par::setMesh(ModuleOp module, MeshAttr mesh) {
  (*module.getOps<MeshOp>().begin()).setMeshAttr(mesh);
  resolveViews(module);
}

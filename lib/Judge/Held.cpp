//===- Held.cpp - what a rank holds of a one-device value, and where -----------------------------===//
#include "Held.h"

using namespace mlir;
using namespace mlir::par;

bool Held::dependsOn(StringAttr axis) const {
  auto isCut = [&](const HeldDim &dim) { return !dim.isConstant && llvm::is_contained(dim.axes, axis); };
  return llvm::is_contained(pending, axis) || llvm::is_contained(logPending, axis) ||
         llvm::is_contained(extreme, axis) || llvm::is_contained(coordinates, axis) ||
         llvm::any_of(dims, isCut);
}

Axes par::dropTrivial(ArrayRef<StringAttr> axes, MeshAttr mesh) {
  Axes left;
  llvm::copy_if(axes, std::back_inserter(left),
                [&](StringAttr axis) { return mesh.getSize(axis.getValue()) > 1; });
  return left;
}

void Held::dropFacts() {
  affine.reset(), below.reset();
  first.clear(), shifts.clear();
}

std::string par::quote(ArrayRef<StringAttr> axes) {
  std::string text;
  for (StringAttr axis : axes)
    text += (text.empty() ? "\"" : ", \"") + axis.str() + "\"";
  return text.empty() ? "no axis" : text;
}

//===- Layout.cpp - dimensions of which a rank holds several blocks -------------------------------------===//
#include "Layout.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::par;

Layout::Layout(const Held &held, RankedTensorType type, MeshAttr mesh)
    : mesh(mesh), info(held.dims.begin(), held.dims.end()) {
  for (auto [dim, extent] : llvm::zip(held.dims, type.getShape())) {
    Digits all;
    for (StringAttr axis : dim.axes)
      all.push_back(add(mesh.getSize(axis.getValue()), axis));
    all.push_back(add(extent, nullptr));
    local.push_back({all.back()});
    value.push_back(all);
  }
}

void Layout::transpose(ArrayRef<int64_t> permutation) {
  SmallVector<Digits> permuted;
  for (int64_t dim : permutation)
    permuted.push_back(local[dim]);
  local = permuted;
}

int64_t Layout::divide(int64_t digit, int64_t major) {
  int64_t minor = add(digits[digit].extent / major, nullptr);
  digits[minor].isFree = digits[digit].isFree;
  digits[digit].extent = major;
  for (SmallVector<Digits> *lists : {&value, &local})
    for (Digits &list : *lists)
      if (auto *at = llvm::find(list, digit); at != list.end())
        list.insert(at + 1, minor);
  return minor;
}

bool Layout::reshape(ArrayRef<int64_t> shape) {
  SmallVector<Digits> result;
  size_t dim = 0, place = 0; // of the next digit
  for (int64_t size : shape) {
    Digits taken;
    while (size > 1) {
      while (dim < local.size() && place == local[dim].size())
        ++dim, place = 0;
      if (dim == local.size())
        return false;
      int64_t digit = local[dim][place], extent = digits[digit].extent;
      if (size % extent && extent % size)
        return false;
      if (extent > size)
        divide(digit, size);
      taken.push_back(digit);
      size /= digits[digit].extent;
      ++place;
    }
    result.push_back(taken);
  }
  // The digits that are left have one value each.
  local = result;
  for (Digits &list : value)
    llvm::erase_if(list, [&](int64_t digit) { return digits[digit].extent == 1; });
  return true;
}

std::optional<Layout::Digits> Layout::take(int64_t dim, ArrayRef<StringAttr> axes) {
  Digits taken;
  for (StringAttr axis : axes) {
    int64_t size = mesh.getSize(axis.getValue());
    while (!local[dim].empty() && digits[local[dim].front()].extent == 1)
      local[dim].erase(local[dim].begin());
    if (local[dim].empty() || digits[local[dim].front()].extent % size)
      return std::nullopt;
    int64_t digit = local[dim].front();
    if (digits[digit].extent > size)
      divide(digit, size);
    local[dim].erase(local[dim].begin());
    taken.push_back(digit);
  }
  return taken;
}

int64_t Layout::findAxis(StringAttr axis) const {
  for (const Digits &list : value)
    for (int64_t digit : list)
      if (digits[digit].axis == axis)
        return digit;
  return -1;
}

bool Layout::cut(int64_t dim, ArrayRef<StringAttr> axes) {
  for (StringAttr axis : axes)
    if (findAxis(axis) >= 0)
      return false;
  std::optional<Digits> taken = take(dim, axes);
  if (!taken)
    return false;
  for (auto [digit, axis] : llvm::zip(*taken, axes))
    digits[digit].axis = axis;
  return true;
}

bool Layout::join(int64_t dim, ArrayRef<StringAttr> axes) {
  Digits joined;
  for (StringAttr axis : axes) {
    int64_t digit = findAxis(axis);
    if (digit < 0) {
      digit = add(mesh.getSize(axis.getValue()), nullptr);
      digits[digit].isFree = true;
    }
    joined.push_back(digit);
  }
  for (int64_t digit : joined)
    digits[digit].axis = nullptr;
  local[dim].insert(local[dim].begin(), joined.begin(), joined.end());
  return true;
}

bool Layout::exchange(int64_t split, int64_t concat, ArrayRef<StringAttr> axes) {
  std::optional<Digits> taken = take(split, axes);
  if (!taken || !join(concat, axes))
    return false;
  for (auto [digit, axis] : llvm::zip(*taken, axes))
    digits[digit].axis = axis;
  return true;
}

std::optional<SmallVector<int64_t>> Layout::findDims() const {
  auto isLocal = [&](int64_t digit) { return !digits[digit].axis && digits[digit].extent > 1; };
  SmallVector<int64_t> dims(local.size(), -1);
  llvm::SmallDenseSet<int64_t> used;
  for (size_t dim = 0; dim < local.size(); ++dim) {
    Digits own;
    llvm::copy_if(local[dim], std::back_inserter(own), isLocal);
    for (size_t of = 0; of < value.size() && !own.empty(); ++of) {
      Digits all;
      llvm::copy_if(value[of], std::back_inserter(all), isLocal);
      // Coordinates are major to what a rank holds.
      bool isMajor = std::is_partitioned(value[of].begin(), value[of].end(), [&](int64_t digit) {
        return bool(digits[digit].axis) || digits[digit].extent == 1;
      });
      // Copies are no copies of a dimension, unless all of its elements are.
      Digits counted;
      llvm::copy_if(own, std::back_inserter(counted), [&](int64_t digit) { return !digits[digit].isFree; });
      if (all == counted && isMajor && !used.count(of) && (counted == own || info[of].isConstant))
        dims[dim] = of, used.insert(of);
    }
    if (!own.empty() && dims[dim] < 0)
      return std::nullopt;
  }
  // Dimensions of which a rank holds one element are left, in their order.
  size_t next = 0;
  for (int64_t &dim : dims) {
    while (dim < 0 && next < value.size() && used.count(next))
      ++next;
    if (dim < 0)
      dim = next++;
  }
  if (dims.size() != value.size() ||
      llvm::any_of(dims, [&](int64_t dim) { return dim >= int64_t(value.size()); }))
    return std::nullopt;
  return dims;
}

HeldDim Layout::getDim(int64_t dim) const {
  HeldDim held = info[dim];
  held.axes.clear();
  for (int64_t digit : value[dim])
    if (digits[digit].axis)
      held.axes.push_back(digits[digit].axis);
  return held;
}

#include "par/io/FilePlace.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>

namespace par::io {

/// More tensors than any model has; a wrong number must not take all memory.
static constexpr int64_t mostTensors = 1 << 20;

static auto contentOf(const FilePiece &piece) {
  return std::tie(piece.name, piece.stack, piece.shape, piece.permutation, piece.view, piece.slice.begin,
                  piece.slice.end, piece.part.begin, piece.part.end);
}

bool operator==(const FilePlace &a, const FilePlace &b) {
  return a.offset == b.offset &&
         std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(),
                    [](const FilePiece &x, const FilePiece &y) { return contentOf(x) == contentOf(y); });
}

//===- Defaults ---------------------------------------------------------------------------------------===//

static Ranges allOf(const Shape &shape) { return {Shape(shape.size(), 0), shape}; }

static void fillRanges(Ranges &ranges, const Shape &shape) {
  if (ranges.begin.empty())
    ranges = allOf(shape);
  for (size_t d = 0; d < ranges.end.size() && d < shape.size(); ++d)
    if (ranges.end[d] == toEnd)
      ranges.end[d] = shape[d];
}

/// The part of the variable that one tensor of a piece holds.
static Shape sizesOfTensor(const FilePiece &piece) {
  Shape sizes = piece.part.sizes();
  if (piece.stack > 0 && !sizes.empty())
    sizes[0] /= piece.stack;
  return sizes;
}

static bool isPermutation(const std::vector<int64_t> &permutation, size_t rank) {
  std::vector<int64_t> sorted = permutation, identity(rank);
  std::sort(sorted.begin(), sorted.end());
  std::iota(identity.begin(), identity.end(), 0);
  return sorted == identity;
}

static Shape permuted(const Shape &sizes, const std::vector<int64_t> &permutation) {
  Shape result;
  for (int64_t d : permutation)
    result.push_back(sizes[size_t(d)]);
  return result;
}

/// A dimension of which one element is taken is none of the tensor's.
static Shape defaultShape(const FilePiece &piece, const Shape &variable) {
  Shape sizes = sizesOfTensor(piece), shape;
  for (int64_t d : piece.permutation)
    if (sizes[size_t(d)] != 1 || (variable[size_t(d)] == 1 && (d != 0 || piece.stack == 0)))
      shape.push_back(sizes[size_t(d)]);
  return shape;
}

FilePlace withDefaults(FilePlace place, const Shape &variable) {
  for (FilePiece &piece : place.pieces) {
    fillRanges(piece.part, variable);
    if (piece.permutation.empty()) {
      piece.permutation.resize(variable.size());
      std::iota(piece.permutation.begin(), piece.permutation.end(), 0);
    }
    bool isPlain = piece.view.empty() && piece.slice.begin.empty();
    if (piece.shape.empty() && isPlain && piece.part.begin.size() == variable.size() &&
        isPermutation(piece.permutation, variable.size()))
      piece.shape = defaultShape(piece, variable);
    if (piece.view.empty())
      piece.view = piece.shape;
    fillRanges(piece.slice, piece.view);
  }
  return place;
}

FilePlace wholePlace(const std::string &name, const Shape &variable) {
  FilePlace place;
  place.pieces.emplace_back().name = name;
  return withDefaults(std::move(place), variable);
}

static bool isWhole(const Ranges &ranges, const Shape &shape) {
  return ranges.end == shape && ranges.begin == Shape(shape.size(), 0);
}

const FilePiece *wholePiece(const FilePlace &place, const Shape &variable) {
  if (place.pieces.size() != 1 || place.offset != 0)
    return nullptr;
  const FilePiece &piece = place.pieces.front();
  bool whole = piece.stack == 0 && isWhole(piece.part, variable) && isWhole(piece.slice, piece.view);
  return whole ? &piece : nullptr;
}

size_t rankInFile(const FilePlace &place) {
  const FilePiece &piece = place.pieces.front();
  Shape sizes = piece.slice.sizes();
  size_t rank = 0;
  for (size_t d = 0; d < sizes.size(); ++d)
    rank += sizes[d] != 1 || piece.view[d] == 1;
  return std::min(rank, piece.shape.size());
}

/// Without an offset it is the same number, the sign of zero included.
float fromFile(const FilePlace &place, float value) {
  return place.offset == 0 ? value : value + float(place.offset);
}

float toFile(const FilePlace &place, float value) {
  return place.offset == 0 ? value : value - float(place.offset);
}

//===- Strides ----------------------------------------------------------------------------------------===//

/// The strides of a tensor of `sizes` and `strides` that is reshaped to `shape`, of as many elements; nothing
/// where a dimension of `shape` would have several strides.
static std::optional<Shape> reshapedStrides(const Shape &sizes, const Shape &strides, const Shape &shape) {
  Shape result(shape.size(), 1);
  size_t next = shape.size();
  int64_t base = strides.empty() ? 1 : strides.back(), there = 1, taken = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    there *= sizes[d];
    if (d > 0 && (sizes[d - 1] == 1 || strides[d - 1] == there * base))
      continue; // it goes on as one dimension
    while (next > 0 && (taken < there || shape[next - 1] == 1)) {
      result[--next] = taken * base;
      taken *= shape[next];
    }
    if (taken != there)
      return std::nullopt;
    there = taken = 1;
    base = d > 0 ? strides[d - 1] : 1;
  }
  while (next > 0 && shape[next - 1] == 1)
    --next;
  return next == 0 ? std::optional(result) : std::nullopt;
}

static Shape rowMajorStrides(const Shape &shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// By dimensions of the variable. Nothing where the slice has no such order.
static std::optional<Shape> stridesOf(const FilePiece &piece) {
  Shape sizes = permuted(sizesOfTensor(piece), piece.permutation), ordered;
  if (elementCount(sizes) == 0) {
    ordered = rowMajorStrides(sizes);
  } else if (auto found = reshapedStrides(piece.slice.sizes(), rowMajorStrides(piece.view), sizes)) {
    ordered = *found;
  } else {
    return std::nullopt;
  }
  Shape strides(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    strides[size_t(piece.permutation[i])] = ordered[i];
  return strides;
}

static std::string numbered(const std::string &name, int64_t number) {
  size_t at = name.find("{}");
  return name.substr(0, at) + std::to_string(number) + name.substr(at + 2);
}

std::vector<TensorPart> partsOf(const FilePlace &place, const Shape &variable) {
  std::vector<TensorPart> parts;
  for (const FilePiece &piece : place.pieces) {
    int64_t first = 0;
    Shape steps = rowMajorStrides(piece.view);
    for (size_t d = 0; d < steps.size(); ++d)
      first += piece.slice.begin[d] * steps[d];
    TensorPart part{piece.name, piece.shape, piece.view, piece.slice, piece.part, first, *stridesOf(piece)};
    if (piece.stack == 0)
      parts.push_back(part);
    int64_t size = variable.empty() ? 0 : sizesOfTensor(piece)[0];
    for (int64_t number = 0; number < piece.stack; ++number) {
      part.name = numbered(piece.name, number);
      part.part.begin[0] = piece.part.begin[0] + number * size;
      part.part.end[0] = part.part.begin[0] + size;
      parts.push_back(part);
    }
  }
  return parts;
}

//===- Problems ---------------------------------------------------------------------------------------===//

/// Nothing: a size is negative, or there are more than can be counted.
static std::optional<int64_t> countElements(const Shape &shape) {
  int64_t elements = 1;
  bool isZero = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    isZero |= size == 0;
    if (size != 0 && __builtin_mul_overflow(elements, size, &elements))
      return std::nullopt;
  }
  return isZero ? 0 : elements;
}

static bool areWithin(const Ranges &ranges, const Shape &shape) {
  bool good = ranges.begin.size() == shape.size() && ranges.end.size() == shape.size();
  for (size_t d = 0; good && d < shape.size(); ++d)
    good = ranges.begin[d] >= 0 && ranges.end[d] <= shape[d] &&
           (ranges.begin[d] < ranges.end[d] || (ranges.begin[d] == 0 && shape[d] == 0));
  return good;
}

namespace {
class PieceChecker {
public:
  PieceChecker(const FilePiece &piece, const Shape &variable, std::vector<std::string> &problems)
      : piece(piece), variable(variable), problems(problems) {}

  /// Whether the part may be asked for.
  bool check() {
    size_t before = problems.size();
    bool hasPart = areWithin(piece.part, variable);
    if (!hasPart)
      add("at", "is " + toString(piece.part) + ", expected a range of each of the variable's dimensions " +
                    toString(variable));
    checkStack(hasPart);
    if (!isPermutation(piece.permutation, variable.size()))
      add("permutation", "must hold each of the " + std::to_string(variable.size()) + " dimensions once");
    checkTensor(hasPart);
    if (problems.size() == before && !stridesOf(piece))
      add("slice", "is " + toString(piece.slice) + " of " + toString(piece.view) +
                       ", in which the part's dimensions " +
                       toString(permuted(sizesOfTensor(piece), piece.permutation)) +
                       " have no steps of one length; split the tensor by view, or the part into pieces");
    return hasPart;
  }

private:
  void add(const std::string &key, const std::string &problem) {
    problems.push_back(key + " of file \"" + piece.name + "\" " + problem);
  }

  void checkStack(bool hasPart) {
    size_t marks = 0;
    for (size_t at = piece.name.find("{}"); at != std::string::npos; at = piece.name.find("{}", at + 2))
      ++marks;
    if (piece.stack == 0)
      return;
    if (piece.stack < 0 || piece.stack > mostTensors || marks != 1)
      return add("stack", "is " + std::to_string(piece.stack) + " with \"{}\" " + std::to_string(marks) +
                              " times in its name, expected 1 to " + std::to_string(mostTensors) +
                              " tensors and \"{}\" once");
    if (hasPart && (variable.empty() || piece.part.sizes()[0] % piece.stack != 0))
      add("stack", "is " + std::to_string(piece.stack) + ", which does not divide dimension 0 of the part " +
                       toString(piece.part));
  }

  void checkTensor(bool hasPart) {
    std::optional<int64_t> elements = countElements(piece.shape), viewed = countElements(piece.view);
    if (!elements)
      return add("shape", "has a negative size or more elements than can be counted");
    if (!viewed || *viewed != *elements)
      return add("view", "is " + toString(piece.view) + ", expected as many elements as its shape " +
                             toString(piece.shape));
    if (!areWithin(piece.slice, piece.view))
      return add("slice", "is " + toString(piece.slice) + ", expected a range of each of the dimensions " +
                              toString(piece.view));
    int64_t taken = elementCount(piece.slice.sizes()),
            wanted = hasPart ? elementCount(sizesOfTensor(piece)) : 0;
    if (!hasPart || taken == wanted)
      return;
    bool whole = isWhole(piece.slice, piece.view);
    add(whole ? "shape" : "slice",
        "has " + std::to_string(taken) + " elements, " +
            (piece.stack == 0 && isWhole(piece.part, variable) ? "the variable has "
                                                               : "its part of the variable has ") +
            std::to_string(wanted));
  }

  const FilePiece &piece;
  const Shape &variable;
  std::vector<std::string> &problems;
};
} // namespace

std::vector<std::string> problemsOf(const FilePlace &place, const Shape &variable) {
  std::vector<std::string> problems;
  std::vector<Ranges> parts;
  int64_t covered = 0;
  for (const FilePiece &piece : place.pieces)
    if (PieceChecker(piece, variable, problems).check()) {
      parts.push_back(piece.part);
      covered += elementCount(piece.part.sizes());
    }
  if (!std::isfinite(place.offset) || double(float(place.offset)) != place.offset)
    problems.push_back("offset is no number of f32");
  if (!problems.empty())
    return problems;
  if (auto both = findOverlap(parts))
    problems.push_back("the pieces at " + toString(parts[both->first]) + " and " +
                       toString(parts[both->second]) + " overlap");
  else if (covered != elementCount(variable))
    problems.push_back("the pieces have " + std::to_string(covered) + " of the variable's " +
                       std::to_string(elementCount(variable)) + " elements, expected all");
  return problems;
}

} // namespace par::io

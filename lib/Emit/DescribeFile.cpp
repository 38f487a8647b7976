//===- DescribeFile.cpp - a variable's place in files as JSON -------------------------------------------===//
#include "DescribeFile.h"
#include "par/Dialect/Par/IR/FilePlaces.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;
namespace io = ::par::io;

static json::Array describeRanges(const io::Ranges &ranges) {
  json::Array array;
  for (auto [begin, end] : llvm::zip(ranges.begin, ranges.end))
    array.push_back(json::Array{begin, end});
  return array;
}

/// Ranges that are all of a shape go without saying.
static void addRanges(StringRef key, const io::Ranges &ranges, ArrayRef<int64_t> shape,
                      json::Object &object) {
  if (ranges.end != shape.vec() || llvm::any_of(ranges.begin, [](int64_t begin) { return begin != 0; }))
    object[key] = describeRanges(ranges);
}

static json::Object describePiece(const io::FilePiece &piece, VariableOp variable) {
  json::Object object{{"name", piece.name},
                      {"shape", json::Array(piece.shape)},
                      {"permutation", json::Array(piece.permutation)}};
  if (piece.stack != 0)
    object["stack"] = piece.stack;
  if (piece.view != piece.shape)
    object["view"] = json::Array(piece.view);
  addRanges("slice", piece.slice, piece.view, object);
  addRanges("at", piece.part, variable.getTensorType().getShape(), object);
  return object;
}

json::Object mlir::par::describeFile(VariableOp variable) {
  io::FilePlace place = getFilePlace(variable);
  json::Object object;
  if (place.pieces.size() == 1) {
    object = describePiece(place.pieces.front(), variable);
  } else {
    json::Array pieces;
    for (const io::FilePiece &piece : place.pieces)
      pieces.push_back(describePiece(piece, variable));
    object["pieces"] = std::move(pieces);
  }
  if (place.offset != 0)
    object["offset"] = place.offset;
  return object;
}

//===- FileAttributes.cpp - syntax and meaning of places in files ---------------------------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "par/Dialect/Par/IR/FilePlaces.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::par;

FileAttr FileAttr::get(MLIRContext *context, StringAttr name, ArrayRef<int64_t> shape,
                       ArrayRef<int64_t> permutation) {
  auto piece = FilePieceAttr::get(context, name, 0, shape, permutation, {}, {}, {}, {}, {});
  return get(context, piece, FloatAttr());
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

namespace {
/// The keys of a piece, as they are written.
struct Piece {
  std::string name;
  int64_t stack = 0;
  SmallVector<int64_t> shape, permutation, view, sliceBegin, sliceEnd, partBegin, partEnd;

  FilePieceAttr build(MLIRContext *context) const {
    return FilePieceAttr::get(context, StringAttr::get(context, name), stack, shape, permutation, view,
                              sliceBegin, sliceEnd, partBegin, partEnd);
  }
};
} // namespace

static ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &into) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(into.emplace_back()); });
}

/// `0:64`, `:` or `5`, by dimensions.
static ParseResult parseRanges(AsmParser &parser, SmallVectorImpl<int64_t> &begins,
                               SmallVectorImpl<int64_t> &ends) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    int64_t &begin = begins.emplace_back(0), &end = ends.emplace_back(FilePieceAttr::kToEnd);
    if (succeeded(parser.parseOptionalColon()))
      return success();
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseInteger(begin))
      return failure();
    end = begin + 1;
    if (succeeded(parser.parseOptionalColon()) && parser.parseInteger(end))
      return failure();
    if (begin < 0 || end <= begin)
      return parser.emitError(place, "elements ") << begin << ":" << end << ", expected 0 <= begin < end";
    return success();
  });
}

/// Parses the value of a key of a piece. Null: there is no such key.
static OptionalParseResult parseKey(AsmParser &parser, StringRef key, Piece &piece) {
  if (key == "stack")
    return ParseResult(parser.parseInteger(piece.stack));
  if (key == "shape")
    return parseIntegers(parser, piece.shape);
  if (key == "permutation")
    return parseIntegers(parser, piece.permutation);
  if (key == "view")
    return parseIntegers(parser, piece.view);
  if (key == "slice")
    return parseRanges(parser, piece.sliceBegin, piece.sliceEnd);
  if (key == "at")
    return parseRanges(parser, piece.partBegin, piece.partEnd);
  return std::nullopt;
}

/// A name and its keys, each once. `offset` is one of them where it is not null.
static ParseResult parsePiece(AsmParser &parser, Piece &piece, std::optional<double> *offset) {
  SmallVector<StringRef> seen;
  if (parser.parseString(&piece.name))
    return failure();
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc place = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(seen, key))
      return parser.emitError(place, key) << " is there twice";
    seen.push_back(key);
    OptionalParseResult result = parseKey(parser, key, piece);
    if (!result.has_value() && offset && key == "offset")
      result = ParseResult(parser.parseFloat(offset->emplace()));
    if (!result.has_value())
      return parser.emitError(place, "expected shape, permutation, view, slice, at, stack")
             << (offset ? " or offset" : "") << ", got " << key;
    if (*result)
      return failure();
  }
  return success();
}

static void printIntegers(AsmPrinter &printer, StringRef key, ArrayRef<int64_t> values) {
  if (values.empty())
    return;
  raw_ostream &stream = printer.getStream();
  stream << ", " << key << " = [";
  llvm::interleaveComma(values, stream);
  stream << "]";
}

static void printRanges(AsmPrinter &printer, StringRef key, ArrayRef<int64_t> begins,
                        ArrayRef<int64_t> ends) {
  if (begins.empty())
    return;
  printer << ", " << key << " = [";
  llvm::interleaveComma(llvm::zip(begins, ends), printer, [&](auto range) {
    auto [begin, end] = range;
    if (end == FilePieceAttr::kToEnd)
      printer << ":";
    else if (end == begin + 1)
      printer << begin;
    else
      printer << begin << ":" << end;
  });
  printer << "]";
}

static void printPiece(AsmPrinter &printer, FilePieceAttr piece) {
  printer.printString(piece.getName());
  if (piece.getStack())
    printer << ", stack = " << piece.getStack();
  printIntegers(printer, "shape", piece.getShape());
  printIntegers(printer, "permutation", piece.getPermutation());
  printIntegers(printer, "view", piece.getView());
  printRanges(printer, "slice", piece.getSliceBegin(), piece.getSliceEnd());
  printRanges(printer, "at", piece.getPartBegin(), piece.getPartEnd());
}

Attribute FilePieceAttr::parse(AsmParser &parser, Type) {
  Piece piece;
  if (parser.parseLess() || parsePiece(parser, piece, /*offset=*/nullptr) || parser.parseGreater())
    return {};
  return piece.build(parser.getContext());
}

void FilePieceAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printPiece(printer, *this);
  printer << ">";
}

Attribute FileAttr::parse(AsmParser &parser, Type) {
  SmallVector<FilePieceAttr> pieces;
  std::optional<double> offset;
  auto parseItem = [&]() -> ParseResult {
    auto piece = llvm::dyn_cast_or_null<FilePieceAttr>(FilePieceAttr::parse(parser, {}));
    pieces.push_back(piece);
    return success(static_cast<bool>(piece));
  };
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalLSquare())) {
    if (parser.parseCommaSeparatedList(parseItem) || parser.parseRSquare())
      return {};
    if (succeeded(parser.parseOptionalComma()) &&
        (parser.parseKeyword("offset") || parser.parseEqual() || parser.parseFloat(offset.emplace())))
      return {};
  } else {
    Piece piece;
    if (parsePiece(parser, piece, &offset))
      return {};
    pieces.push_back(piece.build(parser.getContext()));
  }
  if (parser.parseGreater())
    return {};
  FloatAttr added = offset ? parser.getBuilder().getF64FloatAttr(*offset) : FloatAttr();
  return FileAttr::get(parser.getContext(), pieces, added);
}

void FileAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getPieces().size() == 1) {
    printPiece(printer, getPieces().front());
  } else {
    printer << "[";
    llvm::interleaveComma(getPieces(), printer, [&](FilePieceAttr piece) { piece.print(printer); });
    printer << "]";
  }
  if (getOffsetAttr()) {
    printer << ", offset = ";
    printer.printFloat(APFloat(getOffset()));
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

static bool isPermutation(ArrayRef<int64_t> order, size_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : order)
    if (dim < 0 || dim >= static_cast<int64_t>(rank) || seen.test(dim))
      return false;
    else
      seen.set(dim);
  return order.size() == rank;
}

bool mlir::par::isWholeFileTensor(VariableOp variable) {
  FileAttr file = variable.getFileAttr();
  FilePieceAttr piece = file.getPieces().front();
  if (file.getPieces().size() > 1 || file.getOffsetAttr() || piece.getStack() || !piece.getView().empty() ||
      !piece.getSliceBegin().empty() || !piece.getPartBegin().empty())
    return false;
  RankedTensorType type = variable.getTensorType();
  int64_t elements = 1;
  for (int64_t size : piece.getShape())
    if (size < 0 || llvm::MulOverflow(elements, size, elements))
      return false;
  return (piece.getShape().empty() || elements == type.getNumElements()) &&
         (piece.getPermutation().empty() || isPermutation(piece.getPermutation(), type.getRank()));
}

size_t mlir::par::getFileRank(VariableOp variable) {
  ArrayRef<int64_t> shape = variable.getFileAttr().getPieces().front().getShape();
  if (!isWholeFileTensor(variable))
    return ::par::io::rankInFile(getFilePlace(variable));
  return shape.empty() ? variable.getTensorType().getRank() : shape.size();
}

static std::vector<int64_t> toVector(ArrayRef<int64_t> values) { return values.vec(); }

::par::io::FilePlace mlir::par::getFilePlace(VariableOp variable) {
  FileAttr file = variable.getFileAttr();
  ::par::io::FilePlace place;
  place.offset = file.getOffset();
  for (FilePieceAttr piece : file.getPieces())
    place.pieces.push_back({piece.getName().str(),
                            piece.getStack(),
                            toVector(piece.getShape()),
                            toVector(piece.getPermutation()),
                            toVector(piece.getView()),
                            {toVector(piece.getSliceBegin()), toVector(piece.getSliceEnd())},
                            {toVector(piece.getPartBegin()), toVector(piece.getPartEnd())}});
  return ::par::io::withDefaults(std::move(place), variable.getTensorType().getShape().vec());
}

//===- RandomGraph.cpp - random graphs with random shardings --------------------------------------------===//
#include "RandomGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::par::test;

namespace {

class RandomGraph {
public:
  RandomGraph(uint64_t seed, bool executable, bool large = false, bool narrow = false)
      : random(seed), executable(executable), large(large), hasSecondLoss(seed % 3 == 1),
        element(narrow ? "bf16" : "f32"),
        // Long sums of large values have no digits left in f32, and bf16 has few from the start.
        writer(makeMesh(), large || (narrow && executable) ? "0.2" : "1.0", element) {}

  std::string write() {
    if (executable || random.chance(30))
      addLookup();
    while (pool.size() < 2)
      pool.push_back(variable(anyShape(2, 3)));
    for (int64_t ops = random.range(3, 9); ops > 0; --ops)
      addOp();
    if (random.chance(40))
      addRows();
    // What nothing uses yet has to reach the loss, else its gradient is trivial.
    for (const Node &node : pool)
      if (!used.count(node.name))
        writer.addToLoss(node);
    // Every third graph has a second loss.
    writer.addToLoss(pool.back(), hasSecondLoss ? "second" : "");
    return writer.finish();
  }

private:
  /// Of the graph's own type, where no other is named.
  std::string typeOf(ArrayRef<int64_t> shape, const std::string &other = "") const {
    return par::test::typeOf(shape, other.empty() ? element : other);
  }

  //===--------------------------------------------------------------------===//
  // Meshes, shapes, shardings
  //===--------------------------------------------------------------------===//

  std::string makeMesh() {
    std::string text;
    int64_t ranks = 1;
    std::vector<const char *> names =
        executable ? std::vector<const char *>{"dp", "tp"} : std::vector<const char *>{"a", "b", "c"};
    for (const char *name : names) {
      int64_t size = random.range(ranks == 1 ? 2 : 1, std::min<int64_t>(executable ? 2 : 4, 8 / ranks));
      if (size == 1)
        continue;
      ranks *= size;
      axes.push_back(name);
      text += (text.empty() ? "\"" : ", \"") + std::string(name) + "\"=" + std::to_string(size);
      if (ranks > 4)
        break;
    }
    return "<[" + text + "]>";
  }

  /// From `least` to `most`; in large graphs a prime of up to `largest`, which neither vectors nor tiles nor
  /// threads divide.
  int64_t anySize(int64_t least, int64_t most, int64_t largest) {
    static constexpr int64_t primes[] = {3, 5, 7, 11, 13, 17, 23, 31, 37, 53, 67, 97, 131, 257, 521};
    if (!large)
      return random.range(least, most);
    int64_t count = llvm::upper_bound(primes, largest) - std::begin(primes);
    return primes[random.range(std::max<int64_t>(count - 6, 0), count - 1)];
  }

  Shape anyShape(int64_t least, int64_t most) {
    static constexpr int64_t largest[] = {1, 521, 131, 31, 13};
    Shape shape;
    int64_t rank = random.range(least, most);
    for (int64_t dim = 0; dim < rank; ++dim)
      shape.push_back(random.chance(10) ? 1 : anySize(2, 6, largest[rank]));
    return shape;
  }

  /// "@mesh, [{"a"}, {}]"; dimensions stay open now and then.
  std::string anySharding(size_t rank) {
    std::vector<std::string> dims(rank);
    for (const std::string &axis : axes)
      if (rank > 0 && random.chance(60)) {
        std::string &dim = dims[random.range(0, static_cast<int64_t>(rank) - 1)];
        dim += (dim.empty() ? "\"" : ", \"") + axis + "\"";
      }
    std::string text;
    for (const std::string &dim : dims)
      text +=
          (text.empty() ? "{" : ", {") + dim + (random.chance(30) ? (dim.empty() ? "?" : ", ?") : "") + "}";
    return "@mesh, [" + text + "]";
  }

  std::string maybeSharding(size_t rank) { return random.chance(60) ? anySharding(rank) : ""; }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  Node variable(ArrayRef<int64_t> shape) {
    Node node = writer.variable(shape, maybeSharding(shape.size()));
    parameters.push_back(node);
    return node;
  }

  /// A parameter of the shape, an old one if there is one.
  Node parameter(ArrayRef<int64_t> shape) {
    for (const Node &old : parameters)
      if (old.shape == Shape(shape) && random.chance(70))
        return old;
    return variable(shape);
  }

  Node pick() {
    // Later values more often, so that graphs are deep as well as wide.
    size_t at = random.chance(50)
                    ? pool.size() - 1
                    : static_cast<size_t>(random.range(0, static_cast<int64_t>(pool.size()) - 1));
    used.insert(pool[at].name);
    return pool[at];
  }

  void add(const Node &node) {
    pool.push_back(node);
    if (!random.chance(20) || node.shape.empty())
      return;
    used.insert(node.name);
    pool.push_back(writer.op("par.constrain " + node.name + " <" + anySharding(node.shape.size()) +
                                 "> : " + typeOf(node.shape),
                             node.shape));
  }

  std::string arrow(const Node &from, ArrayRef<int64_t> to) const {
    return " : " + typeOf(from.shape) + " -> " + typeOf(to);
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  void addOp() {
    Node x = pick();
    switch (random.range(0, 14)) {
    case 0:
    case 1:
    case 2:
      return addEinsum(x);
    case 3:
      return addMaths(x);
    case 4:
      return addBinary(x);
    case 5:
      return addReduce(x);
    case 6:
      return addNorm(x);
    case 7:
      return addTranspose(x);
    case 8:
      return addReshape(x);
    case 9:
      return addSliceOrPad(x);
    case 10:
      return addConcat(x);
    case 11:
      return addExpand(x);
    case 12:
      return addAttention();
    case 13:
      return addDropout(x);
    default:
      return addCalls(x);
    }
  }

  /// The operand's letters in order; a parameter with some of them and new ones; any of both remain, in any
  /// order.
  void addEinsum(const Node &x) {
    static const std::string alphabet = "xqbzkwmfhjprtv";
    std::string left, right, result;
    Shape rightShape, resultShape;
    llvm::SmallDenseMap<char, int64_t> sizes;
    for (int64_t size : x.shape) {
      left += alphabet[left.size()];
      sizes[left.back()] = size;
    }
    for (char letter : left)
      if (random.chance(60))
        right += letter;
    for (int64_t fresh = random.range(right.empty() ? 1 : 0, 2); fresh > 0 && right.size() < 4; --fresh) {
      char letter = alphabet[left.size() + 4 + static_cast<size_t>(fresh)];
      sizes[letter] = anySize(2, 6, 37);
      right.insert(right.begin() + random.range(0, static_cast<int64_t>(right.size())), letter);
    }
    std::string all = left;
    for (char letter : right) {
      rightShape.push_back(sizes[letter]);
      if (all.find(letter) == std::string::npos)
        all += letter;
    }
    for (char letter : all)
      if (result.size() < 4 && random.chance(65))
        result.insert(result.begin() + random.range(0, static_cast<int64_t>(result.size())), letter);
    for (char letter : result)
      resultShape.push_back(sizes[letter]);
    Node w = parameter(rightShape);
    add(writer.op("par.einsum \"" + left + "," + right + "->" + result + "\"(" + x.name + ", " + w.name +
                      ") : (" + typeOf(x.shape) + ", " + typeOf(w.shape) + ") -> " + typeOf(resultShape),
                  resultShape));
  }

  void addMaths(const Node &x) {
    static const char *names[] = {"math.tanh", "math.sin", "math.cos", "math.erf", "arith.negf", "math.tanh"};
    add(writer.pointwise(names[random.range(0, 5)], {x}));
  }

  void addBinary(const Node &x) {
    static const char *names[] = {"arith.addf", "arith.mulf", "arith.subf", "arith.maximumf"};
    Node other = x;
    for (const Node &node : pool)
      if (node.shape == x.shape && node.name != x.name && random.chance(60))
        other = node;
    if (other.name == x.name)
      other = parameter(x.shape);
    used.insert(other.name);
    add(writer.pointwise(names[random.range(0, 3)], {x, other}));
  }

  void addReduce(const Node &x) {
    Shape dims, rest;
    for (auto [dim, size] : llvm::enumerate(x.shape))
      random.chance(40) ? dims.push_back(static_cast<int64_t>(dim)) : rest.push_back(size);
    if (dims.empty())
      return addMaths(x);
    add(writer.op("par.reduce " + std::string(random.chance(70) ? "sum " : "max ") + x.name + " dims " +
                      listOf(dims) + arrow(x, rest),
                  rest));
  }

  /// Over some of the last dimensions, or all. Ranks that exchange sums compute with constants in f32, so the
  /// epsilon is one.
  void addNormOfSeveral(const Node &x) {
    int64_t rank = static_cast<int64_t>(x.shape.size()), rows = random.range(0, rank - 2);
    Node w = parameter(Shape(ArrayRef<int64_t>(x.shape).drop_front(rows)));
    std::string statistics = typeOf(Shape(ArrayRef<int64_t>(x.shape).take_front(rows)), "f32");
    int64_t count = 1;
    for (int64_t size : w.shape)
      count *= size;
    add(writer.ops("par.rms_norm " + x.name + ", " + w.name + " {eps = 0.0078125, offset = 0.5, count = " +
                       std::to_string(count) + "} : (" + typeOf(x.shape) + ", " + typeOf(w.shape) + ") -> (" +
                       typeOf(x.shape) + ", " + statistics + ")",
                   2, x.shape));
  }

  void addNorm(const Node &x) {
    if (x.shape.empty() || x.shape.back() == 1)
      return addMaths(x);
    if (random.chance(40))
      return add(writer.pointwise("par.softmax", {x}));
    Shape rows(ArrayRef<int64_t>(x.shape).drop_back());
    std::string statistics = typeOf(rows, "f32");
    if (random.chance(25))
      return add(writer.ops("par.standardize " + x.name + " {eps = 1.0e-2} : (" + typeOf(x.shape) + ") -> (" +
                                typeOf(x.shape) + ", " + statistics + ", " + statistics + ")",
                            3, x.shape));
    if (x.shape.size() > 1 && random.chance(25))
      return addNormOfSeveral(x);
    Node w = parameter({x.shape.back()});
    std::string types = typeOf(x.shape) + ", " + typeOf(w.shape);
    if (random.chance(50))
      return add(writer.ops("par.rms_norm " + x.name + ", " + w.name + " {eps = 1.0e-2} : (" + types +
                                ") -> (" + typeOf(x.shape) + ", " + statistics + ")",
                            2, x.shape));
    Node b = variable({x.shape.back()});
    add(writer.ops("par.layer_norm " + x.name + ", " + w.name + ", " + b.name + " {eps = 1.0e-2} : (" +
                       types + ", " + typeOf(b.shape) + ") -> (" + typeOf(x.shape) + ", " + statistics +
                       ", " + statistics + ")",
                   3, x.shape));
  }

  void addTranspose(const Node &x) {
    Shape permutation, shape;
    for (size_t dim = 0; dim < x.shape.size(); ++dim)
      permutation.insert(permutation.begin() + random.range(0, static_cast<int64_t>(dim)),
                         static_cast<int64_t>(dim));
    for (int64_t dim : permutation)
      shape.push_back(x.shape[dim]);
    if (shape.empty())
      return addMaths(x);
    add(writer.op("par.transpose " + x.name + " " + listOf(permutation) + arrow(x, shape), shape));
  }

  /// Merges two neighbours, or splits one dimension in two.
  void addReshape(const Node &x) {
    if (x.shape.empty())
      return addMaths(x);
    Shape shape = x.shape;
    int64_t at = random.range(0, static_cast<int64_t>(shape.size()) - 1);
    if (shape.size() > 1 && random.chance(60)) {
      at = std::min<int64_t>(at, static_cast<int64_t>(shape.size()) - 2);
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + at + 1);
    } else {
      int64_t factor = shape[at] % 2 == 0 ? 2 : shape[at] % 3 == 0 ? 3 : 1;
      shape[at] /= factor;
      shape.insert(shape.begin() + at, factor);
    }
    if (shape.size() > 4)
      return addMaths(x);
    add(writer.op("par.reshape " + x.name + arrow(x, shape), shape));
  }

  void addSliceOrPad(const Node &x) {
    Shape offsets, shape;
    bool pad = random.chance(40);
    for (int64_t size : x.shape) {
      int64_t other = pad ? size + random.range(0, 2) : random.range(1, size);
      offsets.push_back(random.range(0, std::abs(size - other)));
      shape.push_back(other);
    }
    if (shape.empty())
      return addMaths(x);
    add(writer.op((pad ? "par.pad " : "par.slice ") + x.name + (pad ? " at " : " from ") + listOf(offsets) +
                      arrow(x, shape),
                  shape));
  }

  void addConcat(const Node &x) {
    if (x.shape.empty())
      return addMaths(x);
    int64_t dim = random.range(0, static_cast<int64_t>(x.shape.size()) - 1);
    Shape other = x.shape, shape = x.shape;
    other[dim] = random.range(1, 4);
    shape[dim] += other[dim];
    Node y = variable(other);
    add(writer.op("par.concat " + x.name + ", " + y.name + " dim " + std::to_string(dim) + " : (" +
                      typeOf(x.shape) + ", " + typeOf(other) + ") -> " + typeOf(shape),
                  shape));
  }

  void addExpand(const Node &x) {
    if (x.shape.size() > 3)
      return addMaths(x);
    Shape shape = x.shape;
    int64_t dim = random.range(0, static_cast<int64_t>(shape.size()));
    shape.insert(shape.begin() + dim, random.range(2, 5));
    add(writer.op("par.expand " + x.name + " dims " + listOf({dim}) + arrow(x, shape), shape));
  }

  /// A layer called twice, with one parameter or two.
  void addCalls(const Node &x) {
    if (x.shape.empty())
      return addMaths(x);
    std::string name = "@layer" + std::to_string(layers++), type = typeOf(x.shape),
                letters = std::string("xqbz").substr(0, x.shape.size());
    int64_t size = x.shape.back(), wide = anySize(2, 6, 67);
    std::string up = typeOf({wide, size}), down = typeOf({size, wide}), hiddenLetters = letters, hidden;
    hiddenLetters.back() = 'm';
    Shape hiddenShape = x.shape;
    hiddenShape.back() = wide;
    hidden = typeOf(hiddenShape);
    std::string last(1, letters.back());
    writer.function("func.func private " + name + "(%x: " + type + ", %w: " + up + ", %v: " + down + ") -> " +
                    type + " {\n  %h = par.einsum \"" + letters + ",m" + last + "->" + hiddenLetters +
                    "\"(%x, %w) : (" + type + ", " + up + ") -> " + hidden +
                    "\n  %t = math.tanh %h : " + hidden + "\n  %y = par.einsum \"" + hiddenLetters + "," +
                    last + "m->" + letters + "\"(%t, %v) : (" + hidden + ", " + down + ") -> " + type +
                    "\n  %z = arith.addf %x, %y : " + type + "\n  return %z : " + type + "\n}\n");
    Node w = parameter({wide, size}), v = parameter({size, wide}),
         w2 = random.chance(50) ? w : variable({wide, size}), y = x;
    for (const Node &weight : {w, w2})
      y = writer.op("par.call " + name + "(" + y.name + ", " + weight.name + ", " + v.name + ") : (" + type +
                        ", " + up + ", " + down + ") -> " + type,
                    x.shape);
    add(y);
  }

  /// Rotated queries and keys of a few heads, causal or not, with a window or not.
  /// Numbers that begin at some of the rows and at each entry of the batch: a table of documents, or of
  /// positions that count from 0 in each. Entries differ, but for a table of [rows].
  Node anyTable(ArrayRef<int64_t> shape, bool positions) {
    int64_t entries = shape.size() > 1 ? shape[0] : 1, rows = shape.back();
    std::string list;
    for (int64_t entry = 0; entry < entries; ++entry) {
      std::string numbers;
      int64_t document = 0, first = 0;
      for (int64_t row = 0; row < rows; ++row) {
        if (row > 0 && random.chance(30))
          ++document, first = row;
        numbers += (row ? ", " : "") + std::to_string(positions ? row - first : document);
      }
      list += (entry ? ", [" : "[") + numbers + "]";
    }
    if (shape.size() > 1)
      list = "[" + list + "]";
    return writer.op("arith.constant dense<" + list + "> : " + typeOf(shape, "i32"), shape);
  }

  std::string anyMask() {
    std::string mask = random.chance(70) ? random.chance(30) ? "causal, window = 2 : i64, " : "causal, " : "";
    return mask + (random.chance(30) ? "cap = 0.75, " : "");
  }

  void addAttention() {
    int64_t batch = random.range(1, 3), seq = anySize(2, 5, 67), kvHeads = random.range(1, 3),
            group = random.range(1, 3), width = 2 * random.range(1, 2);
    int64_t valueWidth = random.chance(70) ? width : random.range(1, 5);
    Shape qShape{batch, seq, kvHeads, group, width}, kShape{batch, seq, kvHeads, width},
        vShape{batch, seq, kvHeads, valueWidth}, outShape{batch, seq, kvHeads, group, valueWidth},
        statistics{batch, kvHeads, group, seq};
    Node q = parameter(qShape), k = parameter(kShape), v = parameter(vShape);
    Node positions = writer.op("par.iota dim 0 : " + typeOf({seq}, "i32"), {seq});
    if (random.chance(60)) {
      std::string frequencies = width == 2 || random.chance(30) ? "1.0" : "1.0, 0.25";
      std::string factor = random.chance(20) ? ", factor = 1.25 : f64" : "";
      auto rotate = [&](const Node &node) {
        return writer.op("par.rotary " + node.name + ", " + positions.name +
                             " {frequencies = array<f64: " + frequencies + ">" + factor + "} : (" +
                             typeOf(node.shape) + ", " + typeOf({seq}, "i32") + ") -> " + typeOf(node.shape),
                         node.shape);
      };
      q = rotate(q);
      k = rotate(k);
    }
    bool perEntry = random.chance(25);
    Shape table = perEntry ? Shape{batch, seq} : Shape{seq};
    if (perEntry || random.chance(20))
      positions = anyTable(table, /*positions=*/true);
    std::string tableType = typeOf(table, "i32"),
                tables = " positions " + positions.name + ", " + positions.name;
    std::string types =
        typeOf(qShape) + ", " + typeOf(kShape) + ", " + typeOf(vShape) + ", " + tableType + ", " + tableType;
    if (random.chance(35)) {
      Node documents = anyTable(table, /*positions=*/false);
      tables += " documents " + documents.name + ", " + documents.name;
      types += ", " + tableType + ", " + tableType;
    }
    if (random.chance(35)) {
      Node sinks = parameter({kvHeads, group});
      tables += " sinks " + sinks.name;
      types += ", " + typeOf(sinks.shape);
    }
    Node out = writer.ops("par.attention " + q.name + ", " + k.name + ", " + v.name + tables + " {" +
                              anyMask() + "scale = 0.5 : f64} : (" + types + ") -> (" + typeOf(outShape) +
                              ", " + typeOf(statistics, "f32") + ")",
                          2, outShape);
    Shape merged{batch, seq, kvHeads * group * valueWidth};
    add(writer.op("par.reshape " + out.name + arrow(out, merged), merged));
  }

  void addDropout(const Node &x) {
    if (x.shape.empty())
      return addMaths(x);
    Node key = writer.runtimeValue("dropout_key", {2}), row = writer.runtimeValue("micro_batch", {});
    int64_t rank = static_cast<int64_t>(x.shape.size()), stride = 1;
    Shape strides(rank, 0);
    for (int64_t dim = rank - 1; dim > 0; --dim) {
      strides[dim] = stride;
      stride *= x.shape[dim];
    }
    std::string zeros = typeOf({rank}, "i32"), list = listOf(strides);
    Node site =
        writer.op("arith.constant dense<" + std::to_string(random.range(0, 9)) + "> : tensor<i32>", {});
    Node offsets = writer.op("arith.constant dense<0> : " + zeros, {rank});
    add(writer.op("par.dropout " + x.name + " key " + key.name + " site " + site.name + " row " + row.name +
                      " offsets " + offsets.name + " {p = 2.5e-01 : f64, strides = array<i64: " +
                      list.substr(1, list.size() - 2) + ">} : (" + typeOf(x.shape) +
                      ", tensor<2xi32>, tensor<i32>, tensor<i32>, " + zeros + ") -> " + typeOf(x.shape),
                  x.shape));
  }

  /// A constant of some shape that numbers rows, a few of them rows that a table of `rows` lacks.
  Node anyIds(ArrayRef<int64_t> shape, int64_t rows) {
    std::string text = std::to_string(random.range(-1, rows));
    for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
      // Of each dimension all parts are alike but for the last, in which the first id is another.
      std::string list;
      for (int64_t at = 0; at < shape[dim]; ++at) {
        std::string part = text;
        size_t digit = part.find_first_not_of("[");
        if (at + 1 == shape[dim])
          part.replace(digit, part.find_first_of(",]", digit) - digit, std::to_string(random.range(0, rows)));
        list += (list.empty() ? "" : ", ") + part;
      }
      text = "[" + list + "]";
    }
    return writer.op("arith.constant dense<" + text + "> : " + typeOf(shape, "i32"), shape);
  }

  static Shape join(ArrayRef<int64_t> ids, ArrayRef<int64_t> row) {
    Shape shape(ids);
    shape.append(row.begin(), row.end());
    return shape;
  }

  /// Rows of one to three dimensions by ids of up to three: those of a table, and what is added to another
  /// one.
  void addRows() {
    Shape table = anyShape(1, 3), ids = anyShape(0, table.size() > 1 ? 2 : 3),
          row(ArrayRef(table).drop_front());
    Node w = parameter(table), numbers = anyIds(ids, table[0]);
    std::string idsType = typeOf(ids, "i32"), taken = typeOf(join(ids, row));
    Node x = writer.op("par.take_rows " + numbers.name + ", " + w.name + " : (" + idsType + ", " +
                           typeOf(table) + ") -> " + taken,
                       join(ids, row));
    pool.push_back(x);
    if (random.chance(30))
      return;
    Node squared = writer.pointwise("arith.mulf", {x, x});
    Shape sums = table;
    sums[0] = anySize(2, 6, 13);
    used.insert(x.name);
    Node other = random.chance(50) ? numbers : anyIds(ids, sums[0]);
    pool.push_back(writer.op("par.add_rows " + other.name + ", " + squared.name + " : (" + idsType + ", " +
                                 taken + ") -> " + typeOf(sums),
                             sums));
  }

  /// Rows of a table, and the cross-entropy of scores against targets.
  void addLookup() {
    int64_t batch = random.range(2, 5), seq = anySize(1, 4, 31), classes = anySize(3, 9, 521),
            width = anySize(2, 5, 131);
    // The rows of a data-parallel step have to divide.
    batch += executable ? batch % 2 : 0;
    writer.setVocabulary(classes);
    std::string ids = typeOf({batch, seq}, "i32");
    Node tokens = writer.input("tokens", batch, seq, maybeSharding(2)),
         targets = writer.input("targets", batch, seq, maybeSharding(2));
    Node table = variable({classes, width});
    Node x = writer.op("par.embedding " + tokens.name + ", " + table.name + " : (" + ids + ", " +
                           typeOf(table.shape) + ") -> " + typeOf({batch, seq, width}),
                       {batch, seq, width});
    pool.push_back(x);
    used.insert(x.name);
    Node scores =
        writer.op("par.einsum \"bse,ve->bsv\"(" + x.name + ", " + table.name + ") : (" + typeOf(x.shape) +
                      ", " + typeOf(table.shape) + ") -> " + typeOf({batch, seq, classes}),
                  {batch, seq, classes});
    std::string rows = typeOf({batch, seq}, "f32");
    Node loss(writer.ops("par.cross_entropy " + scores.name + ", " + targets.name +
                             " {classes = " + std::to_string(classes) + " : i64} : (" + typeOf(scores.shape) +
                             ", " + ids + ") -> (" + rows + ", " + rows + ")",
                         2, {batch, seq}));
    if (element != "f32")
      loss = writer.op("arith.truncf " + loss.name + " : " + rows + " to " + typeOf(loss.shape), loss.shape);
    pool.push_back(loss);
  }

  Random random;
  bool executable, large, hasSecondLoss;
  std::string element;
  std::vector<std::string> axes;
  GraphWriter writer;
  std::vector<Node> pool, parameters;
  std::set<std::string> used;
  unsigned layers = 0;
};

} // namespace

/// Every fourth graph is bf16.
std::string mlir::par::test::writeRandomGraph(uint64_t seed) {
  return RandomGraph(seed, false, false, seed % 4 == 3).write();
}
std::string mlir::par::test::writeExecutableGraph(uint64_t seed, bool large, bool narrow) {
  return RandomGraph(seed, true, large, narrow).write();
}

// Pieces of variables in tensors of files, and shards of them (docs/IR.md, "Places in files").
#include "par/io/FileTensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

using namespace par::io;

namespace {

/// Calls `visit` for all indices of a shape, in row-major order.
template <typename Visit>
void forEachIndex(const Shape &shape, Visit visit) {
  Shape index(shape.size(), 0);
  for (int64_t left = elementCount(shape); left > 0; --left) {
    visit(index);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];)
      index[d] = 0;
  }
}

int64_t placeOf(const Shape &shape, const Shape &index) {
  int64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    place = place * shape[d] + index[d];
  return place;
}

/// A tensor and a place in it.
using Where = std::pair<std::string, int64_t>;

/// Where every element of a variable is by the words of the description alone: the slice's elements in their
/// order are those of the transposed part in theirs.
std::map<Shape, Where> expected(const FilePlace &place) {
  std::map<Shape, Where> result;
  for (const FilePiece &piece : place.pieces)
    for (int64_t number = 0; number < std::max<int64_t>(piece.stack, 1); ++number) {
      Ranges part = piece.part;
      std::string name = piece.name;
      if (piece.stack) {
        int64_t size = (part.end[0] - part.begin[0]) / piece.stack;
        part.begin[0] += number * size, part.end[0] = part.begin[0] + size;
        name.replace(name.find("{}"), 2, std::to_string(number));
      }
      std::vector<int64_t> places;
      forEachIndex(piece.slice.sizes(), [&](Shape index) {
        for (size_t d = 0; d < index.size(); ++d)
          index[d] += piece.slice.begin[d];
        places.push_back(placeOf(piece.view, index));
      });
      Shape transposed;
      for (int64_t d : piece.permutation)
        transposed.push_back(part.sizes()[size_t(d)]);
      size_t next = 0;
      forEachIndex(transposed, [&](const Shape &index) {
        Shape logical(index.size());
        for (size_t i = 0; i < index.size(); ++i)
          logical[size_t(piece.permutation[i])] = part.begin[size_t(piece.permutation[i])] + index[i];
        result[logical] = {name, places[next++]};
      });
    }
  return result;
}

/// Where the rows of all shards of a size say that every element is; each once.
std::map<Shape, Where> byShards(const FilePlace &place, const Shape &variable, const Shape &local) {
  std::map<Shape, Where> result;
  Shape blocks;
  for (size_t d = 0; d < variable.size(); ++d)
    blocks.push_back((variable[d] + local[d] - 1) / local[d] + 1); // the last is padding only
  forEachIndex(blocks, [&](const Shape &block) {
    Shard shard{local, {}};
    for (size_t d = 0; d < block.size(); ++d)
      shard.begin.push_back(block[d] * local[d]);
    for (const TensorPart &part : partsOf(place, variable))
      forEachRow(layoutOf(shard, part), [&](const ShardRow &row) {
        for (int64_t i = 0; i < row.count; ++i) {
          int64_t rest = row.local + i;
          Shape logical(local.size());
          for (size_t d = local.size(); d-- > 0; rest /= local[d])
            logical[d] = shard.begin[d] + rest % local[d];
          if (!logical.empty())
            EXPECT_EQ(firstIndex(shard, row.local + i), logical[0]);
          EXPECT_TRUE(result.insert({logical, {part.name, row.file + i * row.stride}}).second);
        }
      });
  });
  return result;
}

FilePiece piece(const std::string &name, const Shape &shape = {}, std::vector<int64_t> permutation = {}) {
  FilePiece made;
  made.name = name, made.shape = shape, made.permutation = std::move(permutation);
  return made;
}

FilePlace placeAt(std::vector<FilePiece> pieces, const Shape &variable) {
  return withDefaults({std::move(pieces), 0}, variable);
}

void expectRight(const FilePlace &place, const Shape &variable) {
  ASSERT_EQ(problemsOf(place, variable), std::vector<std::string>());
  std::map<Shape, Where> all = expected(place);
  EXPECT_EQ(int64_t(all.size()), elementCount(variable));
  std::mt19937 random(7);
  for (int round = 0; round < 8; ++round) {
    Shape local;
    for (int64_t size : variable)
      local.push_back(1 + int64_t(random() % uint64_t(size)));
    EXPECT_EQ(byShards(place, variable, round ? local : variable), all);
  }
}

} // namespace

// A whole tensor: transposed, reshaped, a scalar.
TEST(FilePlace, WholeTensors) {
  // logical [3, heads 4, d 2, embed 5] -> file [embed, 3 * 4 * 2]
  FilePlace joint = placeAt({piece("c_attn", {5, 24}, {3, 0, 1, 2})}, {3, 4, 2, 5});
  EXPECT_EQ(partsOf(joint, {3, 4, 2, 5})[0].strides, (Shape{8, 2, 1, 24}));
  expectRight(joint, {3, 4, 2, 5});
  expectRight(placeAt({piece("w")}, {4, 6}), {4, 6});
  expectRight(placeAt({piece("w", {6, 4}, {1, 0})}, {4, 6}), {4, 6});
  expectRight(placeAt({piece("s")}, {}), {});
  EXPECT_TRUE(wholePiece(joint, {3, 4, 2, 5}));
}

// A tensor per expert, transposed and not, of one expert each and of several; the sizes are those of one
// tensor.
TEST(FilePlace, Stacks) {
  FilePiece stack = piece("experts.{}.w", {}, {0, 2, 1});
  stack.stack = 3;
  FilePlace place = placeAt({stack}, {3, 4, 5});
  EXPECT_EQ(place.pieces[0].shape, (Shape{5, 4}));
  EXPECT_EQ(partsOf(place, {3, 4, 5})[2].name, "experts.2.w");
  expectRight(place, {3, 4, 5});
  EXPECT_FALSE(wholePiece(place, {3, 4, 5}));
  stack.permutation = {};
  expectRight(placeAt({stack}, {6, 4, 5}), {6, 4, 5});
  stack.stack = 1;
  EXPECT_EQ(placeAt({stack}, {1, 4, 5}).pieces[0].shape, (Shape{4, 5}));
}

// A layer of a stacked tensor, the halves of a joint one, every second column, a head's part of a joint
// tensor.
TEST(FilePlace, SlicesOfTensors) {
  FilePiece layer = piece("layers", {4, 5, 6});
  layer.slice = {{2, 0, 0}, {3, toEnd, toEnd}};
  expectRight(placeAt({layer}, {5, 6}), {5, 6});
  EXPECT_FALSE(wholePiece(placeAt({layer}, {5, 6}), {5, 6}));
  FilePiece up = piece("gate_up", {10, 6}, {1, 0});
  up.slice = {{5, 0}, {10, toEnd}};
  expectRight(placeAt({up}, {6, 5}), {6, 5});
  FilePiece second = piece("gate_up", {3, 4, 10});
  second.view = {3, 4, 5, 2}, second.slice = {{0, 0, 0, 1}, {toEnd, toEnd, toEnd, 2}};
  FilePlace columns = placeAt({second}, {3, 4, 5});
  EXPECT_EQ(partsOf(columns, {3, 4, 5})[0].strides, (Shape{40, 10, 2}));
  expectRight(columns, {3, 4, 5});
  FilePiece query = piece("qkv", {4 * 3 * 2, 5}, {1, 2, 0});
  query.view = {4, 3, 2, 5}, query.slice = {{0, 1, 0, 0}, {toEnd, 2, toEnd, toEnd}};
  expectRight(placeAt({query}, {5, 4, 2}), {5, 4, 2});
}

// Several tensors make up a variable, along any dimension.
TEST(FilePlace, PiecesOfVariables) {
  FilePiece q = piece("q"), k = piece("k", {4, 2}, {1, 0});
  q.part = {{0, 0}, {3, toEnd}}, k.part = {{3, 0}, {5, toEnd}};
  expectRight(placeAt({q, k}, {5, 4}), {5, 4});
  FilePiece left = piece("left"), right = piece("right");
  left.part = {{0, 0}, {toEnd, 1}}, right.part = {{0, 1}, {toEnd, toEnd}};
  FilePlace place = placeAt({left, right}, {3, 4});
  EXPECT_EQ(place.pieces[0].shape, (Shape{3}));
  expectRight(place, {3, 4});
}

// What does not fit, overlaps, or leaves a gap is named.
TEST(FilePlace, Problems) {
  auto problem = [](FilePiece made, const Shape &variable, std::vector<FilePiece> more = {}) {
    more.insert(more.begin(), std::move(made));
    std::vector<std::string> problems = problemsOf(placeAt(more, variable), variable);
    return problems.empty() ? "" : problems.front();
  };
  FilePiece a = piece("a");
  EXPECT_EQ(problem(piece("a", {8}), {2, 3}), "shape of file \"a\" has 8 elements, the variable has 6");
  EXPECT_EQ(problem(piece("a", {}, {1, 1}), {2, 3}),
            "permutation of file \"a\" must hold each of the 2 dimensions once");
  a.part = {{0, 0}, {2, 4}};
  EXPECT_EQ(problem(a, {2, 3}),
            "at of file \"a\" is [0:2, 0:4], expected a range of each of the variable's dimensions "
            "[2, 3]");
  a.part = {{0}, {2}};
  EXPECT_NE(problem(a, {2, 3}), "");
  a = piece("a", {4, 3});
  a.slice = {{1, 0}, {2, toEnd}};
  EXPECT_EQ(problem(a, {2, 3}), "slice of file \"a\" has 3 elements, the variable has 6");
  a.slice = {{3, 0}, {5, toEnd}};
  EXPECT_EQ(problem(a, {2, 3}),
            "slice of file \"a\" is [3:5, 0:3], expected a range of each of the dimensions [4, 3]");
  a.view = {5, 3};
  EXPECT_EQ(problem(a, {2, 3}),
            "view of file \"a\" is [5, 3], expected as many elements as its shape [4, 3]");
  a = piece("a", {2, 8});
  a.slice = {{0, 0}, {toEnd, 3}};
  EXPECT_EQ(problem(a, {6}),
            "slice of file \"a\" is [0:2, 0:3] of [2, 8], in which the part's dimensions [6] have no "
            "steps of one length; split the tensor by view, or the part into pieces");
  a = piece("a");
  a.part = {{0, 0}, {2, toEnd}};
  EXPECT_EQ(problem(a, {4, 3}), "the pieces have 6 of the variable's 12 elements, expected all");
  FilePiece b = piece("b");
  b.part = {{1, 0}, {4, toEnd}};
  EXPECT_EQ(problem(a, {4, 3}, {b}), "the pieces at [0:2, 0:3] and [1:4, 0:3] overlap");
  a = piece("a.{}");
  a.stack = 3;
  EXPECT_EQ(problem(a, {4, 3}),
            "stack of file \"a.{}\" is 3, which does not divide dimension 0 of the part [0:4, 0:3]");
  a.name = "a";
  EXPECT_NE(problem(a, {3, 3}).find("\"{}\" 0 times in its name"), std::string::npos);
  a.name = "a.{}", a.stack = int64_t(1) << 40;
  EXPECT_NE(problem(a, {3, 3}).find("expected 1 to 1048576 tensors"), std::string::npos);
  FilePlace offset = placeAt({piece("a")}, {2});
  offset.offset = 0.1;
  EXPECT_EQ(problemsOf(offset, {2}), std::vector<std::string>{"offset is no number of f32"});
}

// Ranges are found to overlap as a look at all of their elements says.
TEST(FilePlace, Overlaps) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Ranges> list(2 + random() % 3);
    for (Ranges &ranges : list)
      for (int d = 0; d < 2; ++d) {
        auto begin = int64_t(random() % 5);
        ranges.begin.push_back(begin), ranges.end.push_back(begin + 1 + int64_t(random() % 3));
      }
    bool overlap = false;
    std::map<Shape, int> seen;
    for (const Ranges &ranges : list)
      forEachIndex(ranges.sizes(), [&](Shape index) {
        index[0] += ranges.begin[0], index[1] += ranges.begin[1];
        overlap |= ++seen[index] > 1;
      });
    EXPECT_EQ(findOverlap(list).has_value(), overlap);
  }
  EXPECT_EQ(findOverlap({{{0}, {2}}, {{4}, {6}}, {{1}, {3}}}), (std::pair<size_t, size_t>(0, 2)));
}

// Random places: pieces along a dimension, each a transposed slice of a tensor of its own or a joint one.
TEST(FilePlace, RandomPlaces) {
  std::mt19937 random(5);
  auto upTo = [&](int64_t most) { return 1 + int64_t(random() % uint64_t(most)); };
  for (int round = 0; round < 300; ++round) {
    Shape variable;
    for (int64_t d = upTo(3); d > 0; --d)
      variable.push_back(upTo(5));
    size_t along = random() % variable.size();
    std::vector<FilePiece> pieces;
    for (int64_t begin = 0; begin < variable[along];) {
      int64_t end = std::min(variable[along], begin + upTo(3));
      FilePiece made = piece("t" + std::to_string(begin));
      made.part = {Shape(variable.size(), 0), variable};
      made.part.begin[along] = begin, made.part.end[along] = end;
      made.permutation.resize(variable.size());
      std::iota(made.permutation.begin(), made.permutation.end(), 0);
      std::shuffle(made.permutation.begin(), made.permutation.end(), random);
      // The view has as many dimensions as the part and is larger in some.
      for (int64_t d : made.permutation) {
        int64_t size = made.part.sizes()[size_t(d)], before = int64_t(random() % 2),
                after = int64_t(random() % 3);
        made.view.push_back(before + size + after);
        made.slice.begin.push_back(before), made.slice.end.push_back(before + size);
      }
      made.shape = {elementCount(made.view)};
      pieces.push_back(made);
      begin = end;
    }
    expectRight(placeAt(pieces, variable), variable);
  }
}

// Dimensions of which a slice takes one element do not count: a bias of one layer is a vector.
TEST(FilePlace, RankInFiles) {
  EXPECT_EQ(rankInFile(placeAt({piece("bias", {24}, {0, 1, 2})}, {3, 4, 2})), 1u);
  FilePiece layer = piece("bias", {4, 6});
  layer.slice = {{2, 0}, {3, toEnd}};
  EXPECT_EQ(rankInFile(placeAt({layer}, {6})), 1u);
  FilePiece stack = piece("{}.bias");
  stack.stack = 3;
  EXPECT_EQ(rankInFile(placeAt({stack}, {3, 6})), 1u);
  EXPECT_EQ(rankInFile(placeAt({piece("w")}, {1, 6})), 2u);
}

// The parts of a joint tensor are one tensor; a replica adds nothing; gaps, overlaps and contradictions are
// named.
TEST(FileTensors, AreCollected) {
  FilePiece gate = piece("gate_up", {4, 3}), up = gate;
  gate.slice = {{0, 0}, {2, toEnd}}, up.slice = {{2, 0}, {4, toEnd}};
  PlacedVariable first{"gate", {2, 3}, placeAt({gate}, {2, 3})}, second{"up", {2, 3}, placeAt({up}, {2, 3})},
      replica = second;
  auto collect = [](const std::vector<PlacedVariable> &list, size_t count) {
    std::vector<FileTensor> tensors;
    if (Status status = collectTensors(list, tensors); !status.ok())
      return status.message();
    EXPECT_EQ(tensors.size(), 1u);
    EXPECT_EQ(tensors[0].uses.size(), count);
    return checkComplete(list, tensors).message();
  };
  EXPECT_EQ(collect({first, second, replica}, 2), "");
  EXPECT_EQ(collect({first}, 1),
            "tensor \"gate_up\" of the model's files has 12 elements, of which 6 are in variables; "
            "give the rest a variable, too");
  second.place.pieces[0].slice = {{1, 0}, {3, 3}};
  EXPECT_EQ(collect({first, second}, 2),
            "tensor \"gate_up\" of the model's files has elements that are in variable "
            "\"gate\" and in \"up\"; give each a slice of its own");
  second.place.pieces[0].view = {2, 2, 3}, second.place.pieces[0].slice = {{1, 0, 0}, {2, 2, 3}};
  EXPECT_EQ(collect({first, second}, 2),
            "tensor \"gate_up\" of the model's files is viewed as [4, 3] for variable "
            "\"gate\" and as [2, 2, 3] for \"up\"; give both one view");
  second = {"other", {4, 4}, placeAt({piece("gate_up")}, {4, 4})};
  EXPECT_EQ(collect({first, second}, 2),
            "tensor \"gate_up\" of the model's files has shape [4, 3] for variable \"gate\" "
            "and [4, 4] for \"other\"; give both one shape");
}

// An offset is added and taken away in f32; without one the bits stay, those of -0 too.
TEST(FilePlace, Offsets) {
  FilePlace place = placeAt({piece("w")}, {2});
  EXPECT_TRUE(std::signbit(fromFile(place, -0.0f)));
  place.offset = 1;
  EXPECT_EQ(fromFile(place, 0.25f), 1.25f);
  EXPECT_EQ(toFile(place, 1.25f), 0.25f);
  EXPECT_EQ(fromFile(place, 1e-9f), 1.0f);
  EXPECT_FALSE(wholePiece(place, {2}));
}

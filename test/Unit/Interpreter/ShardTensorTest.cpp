//===- ShardTensorTest.cpp - global tensors to shards and back ------------------------------------------===//
#include "par/Interpreter/ShardTensor.h"
#include "mlir/AsmParser/AsmParser.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Interpreter/Topology.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

class ShardTensorTest : public ::testing::Test {
protected:
  ShardTensorTest() { context.loadDialect<ParDialect>(); }

  MeshAttr getMesh(StringRef text) {
    return cast<MeshAttr>(parseAttribute(("#par.mesh" + text).str(), &context));
  }
  ShardingAttr getSharding(StringRef text) {
    return cast<ShardingAttr>(parseAttribute(("#par.sharding<@mesh, " + text + ">").str(), &context));
  }
  Tensor count(ArrayRef<int64_t> shape) {
    Tensor tensor(RankedTensorType::get(shape, Float32Type::get(&context)));
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.values[i] = static_cast<double>(i + 1);
    return tensor;
  }

  MLIRContext context;
};

using Values = std::vector<double>;

TEST_F(ShardTensorTest, coordinatesAreRowMajor) {
  MeshAttr mesh = getMesh("<[\"a\"=2, \"b\"=3]>");
  EXPECT_EQ(getCoordinate(mesh, 5, "a"), 1);
  EXPECT_EQ(getCoordinate(mesh, 5, "b"), 2);
  EXPECT_EQ(getCoordinate(mesh, 5, "c"), 0);
  // The group's order follows the axes as listed.
  EXPECT_EQ(getGroups(mesh, {"b", "a"})[0], (SmallVector<int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(getGroups(mesh, {"a"})[1], (SmallVector<int64_t>{1, 4}));
}

TEST_F(ShardTensorTest, lastShardIsPadded) {
  MeshAttr mesh = getMesh("<[\"a\"=2]>");
  std::vector<Tensor> shards = shardTensor(count({3, 2}), getSharding("[{\"a\"}, {}]"), mesh);
  EXPECT_EQ(shards[0].values, (Values{1, 2, 3, 4}));
  EXPECT_EQ(shards[1].values, (Values{5, 6, 0, 0}));
}

TEST_F(ShardTensorTest, majorAxisComesFirst) {
  MeshAttr mesh = getMesh("<[\"a\"=2, \"b\"=2]>");
  std::vector<Tensor> shards = shardTensor(count({4}), getSharding("[{\"b\", \"a\"}]"), mesh);
  EXPECT_EQ(shards[1].values, (Values{3})); // a = 0, b = 1
  EXPECT_EQ(shards[2].values, (Values{2})); // a = 1, b = 0
}

TEST_F(ShardTensorTest, unreducedKeepsCoordinateZero) {
  MeshAttr mesh = getMesh("<[\"a\"=2, \"b\"=2]>");
  ShardingAttr sharding = getSharding("[{\"a\"}], unreduced={\"b\"}");
  std::vector<Tensor> shards = shardTensor(count({2}), sharding, mesh);
  EXPECT_EQ(shards[2].values, (Values{2}));
  EXPECT_EQ(shards[3].values, (Values{0}));
  shards[3].values[0] = 40;
  EXPECT_EQ(unshardTensor(shards, sharding, mesh, count({2}).type).value.values, (Values{1, 42}));
}

TEST_F(ShardTensorTest, roundTripOfEveryKind) {
  MeshAttr mesh = getMesh("<[\"a\"=2, \"b\"=3]>");
  for (StringRef text : {"[{}, {}]", "[{\"a\"}, {}]", "[{\"b\", \"a\"}, {}]", "[{\"b\"}, {\"a\"}]",
                         "[{}, {\"b\"}], unreduced={\"a\"}", "[{}, {}], unreduced={\"a\", \"b\"}"}) {
    Tensor global = count({5, 7});
    UnshardedTensor back =
        unshardTensor(shardTensor(global, getSharding(text), mesh), getSharding(text), mesh, global.type);
    EXPECT_EQ(back.value.values, global.values) << text.str();
    EXPECT_EQ(back.replicaDifference, 0.0);
    EXPECT_EQ(back.padding, 0.0);
  }
}

TEST_F(ShardTensorTest, brokenPromisesAreMeasured) {
  MeshAttr mesh = getMesh("<[\"a\"=2, \"b\"=2]>");
  ShardingAttr sharding = getSharding("[{\"a\"}]");
  Tensor global = count({3});
  std::vector<Tensor> shards = shardTensor(global, sharding, mesh);
  shards[1].values[0] += 0.5; // replica of rank 0
  shards[2].values[1] = -7;   // padding
  UnshardedTensor back = unshardTensor(shards, sharding, mesh, global.type);
  EXPECT_EQ(back.replicaDifference, 7.0); // rank 3 lacks the padding's value
  EXPECT_EQ(back.padding, 7.0);
  shards[2].values[1] = 0;
  EXPECT_EQ(unshardTensor(shards, sharding, mesh, global.type).replicaDifference, 0.5);
}

TEST_F(ShardTensorTest, localTypeMayBePaddedFurther) {
  MeshAttr mesh = getMesh("<[\"a\"=2]>");
  Tensor global = count({3});
  RankedTensorType local = global.type.clone({4});
  ShardingAttr sharding = getSharding("[{\"a\"}]");
  std::vector<Tensor> shards = shardTensor(global, sharding, mesh, local);
  EXPECT_EQ(shards[0].values, (Values{1, 2, 3, 0}));
  EXPECT_EQ(shards[1].values, (Values{0, 0, 0, 0}));
  EXPECT_EQ(unshardTensor(shards, sharding, mesh, global.type).value.values, global.values);
}

} // namespace

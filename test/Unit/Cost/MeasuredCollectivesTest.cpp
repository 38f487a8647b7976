//===- MeasuredCollectivesTest.cpp - collectives take what they were measured to take -------------------===//
// Inputs/collectives.json: all-reduces in one tensor, by cluster file: ranks by level of links, bytes and
// microseconds, and who measured them. Of the published curves these are not there: those of 3, 5, 6 and 7
// ranks of a node of 8, for which files have no rates; above 1 MiB a second one of 8 A100, up to 16 % from
// the first; below 256 KiB that of 4 nodes of B200, where fewer bytes took up to 16 times as long.
#include "par/Cost/ClusterFile.h"
#include "par/Cost/CollectiveTimes.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace mlir::par;

namespace {

llvm::json::Value readCurves() {
  auto file = llvm::MemoryBuffer::getFile(PAR_TEST_DIR "/Unit/Cost/Inputs/collectives.json");
  EXPECT_TRUE(file);
  return cantFail(llvm::json::parse((*file)->getBuffer()));
}

/// A curve that was measured, with what par says of each of its points.
void checkCurve(const llvm::json::Object &curve) {
  std::string name = curve.getString("cluster")->str();
  Cluster cluster = cantFail(readCluster(PAR_TEST_DIR "/../examples/clusters/" + name + ".json"));
  GroupPlacement group;
  for (const llvm::json::Value &members : *curve.getArray("members"))
    group.members.push_back(*members.getAsInteger());
  for (const llvm::json::Value &point : *curve.getArray("points")) {
    double bytes = *(*point.getAsArray())[0].getAsNumber(),
           microseconds = *(*point.getAsArray())[1].getAsNumber();
    double seconds = getCollectiveSeconds(CollectiveKind::AllReduce, bytes, group, cluster);
    EXPECT_NEAR(seconds / (microseconds * 1e-6), 1, bytes < 1 << 20 ? 0.15 : 0.05)
        << curve.getString("id")->str() << " " << bytes << " bytes";
  }
}

TEST(MeasuredCollectives, AreRepeated) {
  llvm::json::Value curves = readCurves();
  for (const llvm::json::Value &curve : *curves.getAsArray())
    checkCurve(*curve.getAsObject());
}

} // namespace

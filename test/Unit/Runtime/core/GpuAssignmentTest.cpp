// Which GPU each process has, from what all of them see.
#include "core/GpuAssignment.h"

#include <gtest/gtest.h>

using namespace par::rt;

namespace {

Introduction on(const char *machine, std::vector<std::string> gpus) {
  Introduction made;
  made.machine = machine, made.gpus = std::move(gpus);
  return made;
}

TEST(GpuAssignment, EachTheNextThatAllSee) {
  EXPECT_EQ(assignGpus({on("a", {"x", "y"}), on("a", {"x", "y"})}), (std::vector<int>{0, 1}));
}

/// A launcher shows each process its own.
TEST(GpuAssignment, EachTheOneThatItSees) {
  EXPECT_EQ(assignGpus({on("a", {"x"}), on("a", {"y"})}), (std::vector<int>{0, 0}));
  EXPECT_EQ(assignGpus({on("a", {"y", "x"}), on("a", {"x", "y"})}), (std::vector<int>{0, 0}));
}

TEST(GpuAssignment, MachinesHaveTheirOwn) {
  EXPECT_EQ(assignGpus({on("a", {"x", "y"}), on("b", {"x", "y"}), on("a", {"x", "y"}), on("b", {"x", "y"})}),
            (std::vector<int>{0, 0, 1, 1}));
}

TEST(GpuAssignment, WhoHasNoneIsNamed) {
  std::vector<Introduction> all = {on("a", {"x"}), on("a", {"x"}), on("b", {"x"})};
  std::vector<int> gpus = assignGpus(all);
  EXPECT_EQ(gpus, (std::vector<int>{0, -1, 0}));
  EXPECT_EQ(
      gpuProblem(all, gpus, "p.par"),
      "p.par/manifest.json: has target cuda and needs a GPU for each rank, but rank 1 on a finds none that "
      "is free: 2 ranks run there, on 1 GPU; start fewer ranks there, see CUDA_VISIBLE_DEVICES, or run "
      "without a launcher");
  EXPECT_EQ(gpuProblem({all[0]}, {0}, "p.par"), "");
}

} // namespace

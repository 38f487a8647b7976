// What readers write into a rank's arena, and what they refuse of a manifest.
#include "SafetensorsFiles.h"
#include "TinyPackage.h"
#include "core/Error.h"
#include "core/Inputs.h"
#include "cpu/CpuDevice.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace par::rt;
using namespace par::test;
namespace io = par::io;

namespace {
/// Two micro-batches of 3 rows, on dp = 2 and tp = 2: rows over dp, what is in them over tp.
class InputReaders : public testing::Test {
protected:
  InputReaders() {
    manifest.path = "manifest.json";
    manifest.batch = 6, manifest.microBatches = 2, manifest.worldSize = 4;
    manifest.axes = {{"dp", 2, "dp"}, {"tp", 2, "tp"}};
    Program &program = manifest.programs.emplace_back();
    program.inputs.push_back(
        {"x", ElementType::f32, {3, 2, 3}, {2, 2, 2}, {{0}, {}, {1}}, {0, 64}, "micro_batch", "rows"});
    program.inputs.push_back({"v", ElementType::f32, {3}, {2}, {{1}}, {128}, "step", "value"});
  }

  void open() {
    std::vector<float> numbers(4 * 6);
    std::iota(numbers.begin(), numbers.end(), 1);
    writeTensors(folder / "x.safetensors", {{{"x", {4, 2, 3}}, numbers}});
    writeTensors(folder / "v.safetensors", {{{"v", {3}}, {7, 8, 9}}});
    ASSERT_EQ(
        rows.open({folder / "x.safetensors"}, openInputsOf(manifest, readers::Rows), false, 0).message(), "");
    ASSERT_EQ(
        values.open({"v=" + (folder / "v.safetensors")}, openInputsOf(manifest, readers::Value)).message(),
        "");
  }

  /// What a rank has at an offset after a step.
  std::vector<float> written(int rank, int64_t step, int64_t offset, size_t count) {
    par::cpu::CpuDevice device({});
    par::device::Address arena;
    EXPECT_TRUE(device.allocate(par::device::Space::device, 256, arena));
    device.fill(arena, 0x7FC07FC0, 256);
    InputWriter(manifest, {options, tokens, rows, values, start}, rank).write({&device, arena, {}}, step);
    std::vector<float> found(count);
    device.read(found.data(), arena + offset, count * sizeof(float));
    device.free(par::device::Space::device, arena);
    return found;
  }

  std::string problem() const {
    try {
      checkInputs(manifest);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder;
  Manifest manifest;
  RunOptions options;
  io::TokenData tokens;
  io::RowData rows;
  io::StepValues values;
  Start start;
};
using Floats = std::vector<float>;
} // namespace

/// Row r of micro-batch m of step s is row s·6 + m·3 + r of the file, over and over; each rank has its
/// columns of its rows, and zeros behind the end of both.
TEST_F(InputReaders, RanksHaveTheirPartsOfRows) {
  open();
  EXPECT_EQ(written(0, 1, 0, 8), (Floats{1, 2, 4, 5, 7, 8, 10, 11}));
  EXPECT_EQ(written(1, 1, 0, 8), (Floats{3, 0, 6, 0, 9, 0, 12, 0}));
  EXPECT_EQ(written(2, 1, 0, 8), (Floats{13, 14, 16, 17, 0, 0, 0, 0}));
  EXPECT_EQ(written(0, 1, 64, 4), (Floats{19, 20, 22, 23}));
  EXPECT_EQ(written(0, 2, 0, 4), (Floats{13, 14, 16, 17}));
}

/// A run that goes on begins where the one before has ended.
TEST_F(InputReaders, RowsGoOnBehindThoseOfACheckpoint) {
  open();
  start.step = 7, start.windows = 3;
  EXPECT_EQ(written(0, 8, 0, 4), (Floats{19, 20, 22, 23}));
}

TEST_F(InputReaders, RanksHaveTheirPartsOfValues) {
  open();
  EXPECT_EQ(written(2, 3, 128, 2), (Floats{7, 8}));
  EXPECT_EQ(written(3, 3, 128, 2), (Floats{9, 0}));
}

/// What a package says of its inputs is what its readers can fill.
TEST_F(InputReaders, ManifestsThatNobodyCanServeAreRefused) {
  EXPECT_EQ(problem(), "");
  Input &x = manifest.programs[0].inputs[0];
  const Input good = x;
  x.reader = "columns";
  EXPECT_EQ(problem(),
            "manifest.json: input \"x\" has the reader \"columns\", and this runtime has none of that name "
            "for inputs of a micro_batch; compile the package again");
  x = good, x.reader = "run"; // which serves inputs of the list alone
  EXPECT_NE(problem().find("has the reader \"run\""), std::string::npos);
  x = good, x.time = "step";
  EXPECT_NE(
      problem().find("has the reader \"rows\", and this runtime has none of that name for inputs of a step"),
      std::string::npos);
  x = good, x.name = "targets";
  EXPECT_NE(problem().find("has a reader, but is one that the runtime fills by itself"), std::string::npos);
  x = good, x.offsets = {0};
  EXPECT_NE(problem().find("has 1 offsets, expected 2"), std::string::npos);
  x = good;
  manifest.programs.push_back(manifest.programs[0]);
  manifest.programs[1].inputs[0].type = ElementType::bf16;
  EXPECT_NE(problem().find("has another type, shape or reader in another program"), std::string::npos);
  manifest.programs.pop_back();
  manifest.programs[0].inputs[0].shape = {6, 2, 3};
  EXPECT_NE(problem().find("has the shape [6, 2, 3], but a micro-batch has 3 rows"), std::string::npos);
}

//===- HostKernelsTest.cpp - device code on the host: what it computes, and faults that it finds --===//
#include "HostKernelText.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

using namespace mlir::par;

namespace {
/// Every block of 64 threads turns its 64 numbers round, through shared memory.
const std::string kReverse = kHead + R"(
@tile = internal addrspace(3) global [64 x float] undef, align 4
)" + kEntry + R"(  %from = getelementptr float, ptr %in, i32 %i
  %x = load float, ptr %from, align 4
  %mine = getelementptr [64 x float], ptr addrspace(3) @tile, i32 0, i32 %t
  store float %x, ptr addrspace(3) %mine, align 4
  call void @llvm.nvvm.barrier0()
  %o = sub i32 63, %t
  %other = getelementptr [64 x float], ptr addrspace(3) @tile, i32 0, i32 %o
  %y = load float, ptr addrspace(3) %other, align 4
  %to = getelementptr float, ptr %out, i32 %i
  store float %y, ptr %to, align 4
  ret void
}
)";

/// Every thread gets the sum of its pair in a warp, and how many numbers of the warp are odd in the upper
/// half.
const std::string kPairs = kHead + R"(
define void @kernel(ptr %in, ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr %in, i32 %t
  %x = load i32, ptr %from, align 4
  %other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %x, i32 1, i32 31)
  %sum = add i32 %x, %other
  %odd = trunc i32 %x to i1
  %lanes = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %odd)
  %upper = and i32 %lanes, -65536
  %both = add i32 %sum, %upper
  %to = getelementptr i32, ptr %out, i32 %t
  store i32 %both, ptr %to, align 4
  ret void
}
)";

/// Every thread gets what the three others of its four lanes have brought, through shared memory, twice.
const std::string kQuads = kHead + R"(
@tile = internal addrspace(3) global [64 x i32] undef, align 4
)" + kEntry + R"(  %from = getelementptr i32, ptr %in, i32 %i
  %x = load i32, ptr %from, align 4
  %mine = getelementptr i32, ptr addrspace(3) @tile, i32 %t
  %one = xor i32 %t, 1
  %two = xor i32 %t, 2
  %other = getelementptr i32, ptr addrspace(3) @tile, i32 %one
  %third = getelementptr i32, ptr addrspace(3) @tile, i32 %two
  store i32 %x, ptr addrspace(3) %mine, align 4
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %y = load i32, ptr addrspace(3) %other, align 4
  %z = load i32, ptr addrspace(3) %third, align 4
  %sum = add i32 %y, %z
  call void @llvm.nvvm.bar.warp.sync(i32 -1) ; behind all reads
  store i32 %sum, ptr addrspace(3) %mine, align 4
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %again = load i32, ptr addrspace(3) %other, align 4
  %to = getelementptr i32, ptr %out, i32 %i
  store i32 %again, ptr %to, align 4
  ret void
}
)";

TEST(HostKernelsTest, BlocksShareMemoryInEveryOrder) {
  for (auto order : {par_emulation_forward, par_emulation_reverse, par_emulation_random}) {
    Outcome<float> outcome = run<float>(kReverse, order);
    EXPECT_EQ(outcome.findings, std::vector<std::string>());
    for (int i = 0; i < 128; ++i)
      EXPECT_EQ(outcome.out[i], 3 * (i / 64 * 64 + 63 - i % 64));
  }
}

static size_t countMappings() {
  std::ifstream file("/proc/self/maps");
  return size_t(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
}

// A process may have 65,530 mappings, and each thread of a block takes two.
TEST(HostKernelsTest, NothingIsLeftOfAClosedLibrary) {
  run<float>(kReverse, par_emulation_forward);
  size_t before = countMappings();
  for (int time = 0; time < 4; ++time)
    run<float>(kReverse, par_emulation_forward);
  EXPECT_LT(countMappings(), before + 32);
}

/// The text of a kernel for a grid of blocks.
std::string getPairsOfBlocks() {
  std::string text = change(kPairs, "  %from =", R"(  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %b, 64
  %i = add i32 %first, %t
  %from =)");
  text = change(change(text, "ptr %in, i32 %t", "ptr %in, i32 %i"), "ptr %out, i32 %t", "ptr %out, i32 %i");
  return text;
}

TEST(HostKernelsTest, WarpsExchangeInEveryOrder) {
  std::string text = getPairsOfBlocks();
  for (auto order : {par_emulation_forward, par_emulation_reverse, par_emulation_random}) {
    Outcome<int> outcome = run<int>(text, order);
    EXPECT_EQ(outcome.findings, std::vector<std::string>());
    for (int i = 0; i < 128; ++i) // every odd lane's number is odd
      EXPECT_EQ(outcome.out[i], 3 * i + 3 * (i ^ 1) + int(0xAAAA0000)) << i;
  }
}

/// The numbers have signs.
TEST(HostKernelsTest, WarpsFindTheLeastAndTheGreatest) {
  std::string exchange = "%other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %x, i32 1, i32 31)";
  for (auto [name, lane] : {std::pair("min", 0), std::pair("max", 31)})
    for (auto order : {par_emulation_forward, par_emulation_reverse, par_emulation_random}) {
      std::string reduce = std::string("%less = sub i32 %x, 40\n  %other = call i32 @llvm.nvvm.redux.sync.") +
                           name + "(i32 %less, i32 -1)";
      Outcome<int> outcome = run<int>(change(getPairsOfBlocks(), exchange, reduce), order);
      EXPECT_EQ(outcome.findings, std::vector<std::string>());
      for (int i = 0; i < 128; ++i)
        EXPECT_EQ(outcome.out[i], 3 * i + 3 * (i / 32 * 32 + lane) - 40 + int(0xAAAA0000)) << i;
    }
}

TEST(HostKernelsTest, LanesShareMemoryBetweenSynchronisations) {
  for (auto order : {par_emulation_forward, par_emulation_reverse, par_emulation_random}) {
    Outcome<int> outcome = run<int>(kQuads, order);
    EXPECT_EQ(outcome.findings, std::vector<std::string>());
    for (int i = 0; i < 128; ++i)
      EXPECT_EQ(outcome.out[i], 3 * i + 3 * (i ^ 3)) << i;
  }
}

/// A kernel in which the last thread of a block wins shows the orders.
TEST(HostKernelsTest, OrdersDiffer) {
  std::string text = change(kReverse, "%mine = getelementptr",
                            "%one = getelementptr float, ptr %out, i32 %b\n"
                            "  %mine = getelementptr");
  text = change(text, "  store float %y, ptr %to, align 4", "  store float %x, ptr %one, align 4");
  std::set<float> winners;
  for (auto order : {par_emulation_forward, par_emulation_reverse, par_emulation_random})
    winners.insert(run<float>(text, order).out[0]);
  EXPECT_EQ(winners.size(), 3U) << ::testing::PrintToString(winners);
}

/// Lanes of a warp share what they fetch together, and nothing that they fetch later.
TEST(HostKernelsTest, SectorsOfWarps) {
  const std::string copy = kHead + kEntry + R"(  %even = shl i32 %t, 1
  br label %loop
loop:
  %k = phi i32 [0, %entry], [%next, %loop]
  %j = add i32 %i, 0
  %from = getelementptr i32, ptr %in, i32 %j
  %x = load i32, ptr %from, align 4
  %next = add i32 %k, 1
  %again = icmp ult i32 %next, 1
  br i1 %again, label %loop, label %end
end:
  %to = getelementptr i32, ptr %out, i32 %i
  store i32 %x, ptr %to, align 4
  ret void
}
)";
  struct {
    std::string what, index, times;
    uint64_t fetched, used;
  } const cases[] = {{"side by side", "add i32 %i, 0", "1", 512, 512},
                     {"every other one", "add i32 %even, 0", "1", 1024, 512},
                     {"the others later", "add i32 %even, %k", "2", 2048, 1024},
                     {"one for all", "add i32 0, 0", "1", 4 * 32, 4 * 4}};
  for (const auto &each : cases)
    for (auto order : {par_emulation_forward, par_emulation_reverse, par_emulation_random}) {
      std::string text =
          change(change(copy, "add i32 %i, 0", each.index), "%next, 1\n", "%next, " + each.times + "\n");
      Outcome<int> outcome = run<int>(text, order);
      EXPECT_EQ(outcome.findings, std::vector<std::string>());
      EXPECT_EQ(outcome.read.fetched, each.fetched) << each.what;
      EXPECT_EQ(outcome.read.used, each.used) << each.what;
      EXPECT_EQ(outcome.written.fetched, 512u);
      EXPECT_EQ(outcome.written.used, 512u);
    }
}

/// Each is a mistake that a kernel's writer could make; the emulator names it, and where it is.
TEST(HostKernelsTest, FindsPlantedFaults) {
  const std::string barrier = "  call void @llvm.nvvm.barrier0()\n";
  const std::string divergent = R"(  %some = icmp ult i32 %t, 32
  br i1 %some, label %waits, label %goes
waits:
  call void @llvm.nvvm.barrier0()
  br label %goes
goes:
)";
  const std::string apart = R"(  %some = icmp ult i32 %t, 32
  br i1 %some, label %one, label %two
one:
  call void @llvm.nvvm.barrier0()
  br label %goes
two:
  call void @llvm.nvvm.barrier0()
  br label %goes
goes:
)";
  const std::string whole = R"(  %isFirst = icmp eq i32 %t, 0
  br i1 %isFirst, label %all, label %each
all:
  %head = getelementptr float, ptr %out, i32 %first
  store <4 x float> zeroinitializer, ptr %head, align 16
  br label %each
each:
  store float %y, ptr %to, align 4
)";
  const std::string exchange =
      "  %other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %x, i32 1, i32 31)\n";
  const std::string split = R"(  %even = icmp ult i32 %t, 16
  br i1 %even, label %one, label %two
one:
  %v = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %x, i32 1, i32 31)
  br label %goes
two:
  %w = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %x, i32 1, i32 31)
  br label %goes
goes:
  %other = phi i32 [%v, %one], [%w, %two]
)";
  const Fault faults[] = {
      {"a barrier left out", &kReverse, barrier, "", "race in shared memory: "},
      {"a barrier in a branch", &kReverse, barrier, divergent,
       "barrier that 32 threads of the block never reach"},
      {"two barriers for one", &kReverse, barrier, apart, "threads of a block wait in different barriers"},
      {"one element too far", &kReverse, "ptr %out, i32 %i", "ptr %out, i32 %far", "outside all buffers"},
      {"an input overwritten", &kReverse, "ptr %out, i32 %i", "ptr %in, i32 %i",
       "store in a buffer that is only read"},
      {"an output read first", &kReverse, "ptr %in, i32 %i", "ptr %out, i32 %i",
       "load of bytes that nobody wrote"},
      {"half of the output left", &kReverse, "%first = mul i32 %b, 64", "%first = mul i32 %b, 0",
       "256 of 512 bytes were not written"},
      {"blocks write the same", &kReverse, "%first = mul i32 %b, 64", "%first = mul i32 %b, 0",
       "race: store of what another thread"},
      {"one writes 16 bytes, others 4 of them", &kReverse, "  store float %y, ptr %to, align 4\n", whole,
       "race: store of what another thread"},
      {"a vector that is not aligned", &kReverse, "store float %y, ptr %to, align 4",
       "store float %y, ptr %to, align 16", "store of 4 bytes at an address that is no multiple of 16"},
      {"shared memory too small", &kReverse, "@tile = internal addrspace(3) global [64 x float]",
       "@tile = internal addrspace(3) global [48 x float]", "store outside the shared memory of the block"},
      {"shared memory not written", &kReverse, "%o = sub i32 63, %t", "%o = sub i32 64, %t",
       "load outside the shared memory"},
      {"the tile read before it is filled", &kReverse, "  store float %x, ptr addrspace(3) %mine, align 4\n",
       "", "load of shared memory that nobody wrote"},
      {"a second barrier left out", &kReverse, "  store float %y, ptr %to, align 4\n",
       "  store float %y, ptr %to, align 4\n  store float %y, ptr addrspace(3) %mine, align 4\n",
       "race in shared memory: store"},
      {"a mask without the lane", &kPairs, "shfl.sync.bfly.i32(i32 -1,", "shfl.sync.bfly.i32(i32 -2,",
       "a lane that its own mask does not name"},
      {"a source that is not in the mask", &kPairs, "bfly.i32(i32 -1, i32 %x, i32 1,",
       "bfly.i32(i32 -2, i32 %x, i32 1,", "shuffle from lane 0, which is not in the mask"},
      {"a read of the warp that is not behind it", &kQuads,
       "  call void @llvm.nvvm.bar.warp.sync(i32 -1) ; behind all reads\n", "",
       "race in shared memory: store"},
      {"readers of two warps, of which one is behind", &kQuads, "%one = xor i32 %t, 1",
       "%one = xor i32 %t, 32", "race in shared memory: "},
      {"halves of a warp apart", &kPairs, exchange, split,
       "deadlock: waits for lanes of its mask that wait elsewhere"},
  };
  for (const Fault &fault : faults)
    expectFound(fault);
}

/// What the emulator does not know is an error, not something else.
TEST(HostKernelsTest, RefusesWhatItDoesNotKnow) {
  auto refuse = [](const std::string &declaration, const std::string &call) {
    std::string text = change(kReverse, "  %o = sub", call + "\n  %o = sub") + declaration;
    std::string bitcode = toBitcode(text);
    return EmulatedKernels(llvm::MemoryBufferRef(bitcode, "kernel")).error;
  };
  EXPECT_EQ(refuse("declare float @llvm.nvvm.sqrt.approx.f(float)\n",
                   "  %s = call float @llvm.nvvm.sqrt.approx.f(float %x)"),
            "kernel kernel: there is no emulation of llvm.nvvm.sqrt.approx.f");
  EXPECT_EQ(refuse("", R"(  call void asm sideeffect "bar.sync 1;", ""())"),
            "kernel kernel: there is no emulation of inline assembly: bar.sync 1;");
  EXPECT_EQ(refuse("declare void @trap()\n", "  call void @trap()"),
            "kernel kernel: there is no emulation of trap");
  EXPECT_EQ(refuse("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n",
                   "  call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 4, i1 false)"),
            "kernel kernel: there is no emulation of llvm.memset.p0.i64");
}
} // namespace

//===- KernelCase.h - kernels of a program, emulated, are what the interpreter says -------------===//
#ifndef PAR_TEST_UNIT_TARGET_KERNELCASE_H
#define PAR_TEST_UNIT_TARGET_KERNELCASE_H

#include "TensorMemory.h"
#include "par/Interpreter/Interpreter.h"
#include "par/Target/Target.h"

namespace mlir::par {

/// The kernels of a module of the rank dialect for GPUs, emulated.
class KernelProgram {
public:
  /// `emit` makes LLVM's dialect of a copy of the module, as rank-to-llvm does. `counts`: what its kernels
  /// execute is counted.
  KernelProgram(ModuleOp module, const Plan &plan, function_ref<LogicalResult(ModuleOp)> emit,
                bool counts = false);

  ModuleOp module;
  /// By name: how a kernel is launched (Target.h, kLaunchAttr), and the function that it is.
  llvm::StringMap<DictionaryAttr> launches;
  std::vector<std::string> names;                 ///< of kernels, without what is launched behind them
  llvm::StringMap<rank::WorkOpInterface> regions; ///< that they compute
  std::unique_ptr<EmulatedKernels> kernels;
  /// The file of their PTX.
  std::string getText() const { return folder.at("program0.ptx"); }

private:
  void collect();
  void load(const Plan &plan, function_ref<LogicalResult(ModuleOp)> emit, bool counts);

  std::vector<OwningOpRef<rank::KernelOp>> epilogues; ///< of products, as kernels
  TemporaryFolder folder;
};

/// One kernel on random values: as the interpreter evaluates it, and emulated.
class KernelCase {
public:
  KernelCase(const KernelProgram &program, const std::string &name, std::mt19937 &random);

  /// The same bytes in three orders, nothing found, and what the interpreter says.
  void check();
  /// Results of f32 may differ by this much beside what rounding does, for a kernel of bf16 that gives them.
  double slack = 0;
  /// In one order: nothing found, and what the interpreter says.
  std::vector<Memory> checkValues(par_emulation_order order);
  StringRef getPlan() const { return getLaunch(name).getAs<StringAttr>(launch::kPlan).getValue(); }
  /// Bytes that launch `number` of the last emulation has moved in operand `operand`, by width of the access.
  std::map<uint32_t, uint64_t> getMoved(size_t launch, int64_t operand) const;
  /// What its warps have fetched and written of it, and used, in the same launch.
  ::par::emulation::SectorUse getSectorUse(size_t launch, int64_t operand) const {
    auto found = sectors[launch].find(operand);
    return found == sectors[launch].end() ? ::par::emulation::SectorUse() : found->second;
  }
  /// A thread takes 16 bytes of the narrowest tensor at a time, and of this one that times as many: an
  /// instruction has that part of each sector, and the next ones, which find it in the first cache, have the
  /// rest.
  int64_t countInstructions(int64_t operand) const;
  size_t countLaunches() const { return launched.size(); }
  /// Of a launch of the last emulation.
  StringRef getPlan(size_t launch) const {
    return getLaunch(launched[launch]).getAs<StringAttr>(launch::kPlan).getValue();
  }
  SmallVector<int64_t> getOperands(size_t launch) const {
    return llvm::to_vector(llvm::make_first_range(moved[launch]));
  }
  RankedTensorType getType(int64_t operand) const { return memories[operand].type; }
  int64_t getBytes(int64_t operand) const { return static_cast<int64_t>(memories[operand].bytes.size()); }
  size_t countOperands() const { return memories.size(); }
  /// Of an input as it was before the last emulation, of others as they are behind it.
  DeviceBytes getContents(size_t operand) const;
  /// Name and description (Target.h, kLaunchAttr) of a launch of the last emulation.
  std::pair<StringRef, DictionaryAttr> getLaunched(size_t launch) const {
    return {launched[launch], getLaunch(launched[launch])};
  }
  /// Coordinates of the rank that computes, on all axes.
  std::vector<int32_t> getLastCoords() const;

  /// Ins, outs, scratch, by the numbers that launches have for them. The first output lies where the input
  /// `inPlace` does, if there is one.
  std::vector<Memory> emulate(par_emulation_order order, std::optional<size_t> inPlace = std::nullopt);
  /// Lists operands and launches as if it had been emulated, but computes nothing.
  void list();

  rank::WorkOpInterface work;
  Tensors ins;
  SmallVector<RankedTensorType> types; ///< of outputs

private:
  DictionaryAttr getLaunch(StringRef launch) const { return program.launches.lookup(launch); }
  void makeMemories();
  std::string getNext(StringRef launch) const;
  void launchOne(StringRef launch, par_emulation_order order, std::optional<size_t> inPlace);
  void compare(std::vector<Memory> &outs);

  const KernelProgram &program;
  std::string name;
  std::vector<Memory> memories;
  std::vector<std::string> launched;
  std::vector<std::map<int64_t, std::map<uint32_t, uint64_t>>> moved;
  std::vector<std::map<int64_t, ::par::emulation::SectorUse>> sectors;
};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_KERNELCASE_H

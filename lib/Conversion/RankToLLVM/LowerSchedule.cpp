//===- LowerSchedule.cpp - schedules as tables ----------------------------------------------------------===//
#include "LowerSchedule.h"
#include "ScheduleTable.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::par;

namespace {
class ScheduleLowering {
public:
  explicit ScheduleLowering(ModuleOp module)
      : module(module), loc(module.getLoc()), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LogicalResult run() {
    std::map<std::optional<uint64_t>, int64_t> actions; // of a program so far
    for (auto schedule : module.getOps<rank::ScheduleOp>()) {
      ScheduleTable table;
      int64_t &first = actions[schedule.getStage()];
      if (failed(table.build(schedule)))
        return failure();
      lower(schedule, table, first);
      first += table.countSteps();
    }
    return success();
  }

private:
  Value i64(int64_t value) {
    return builder.create<LLVM::ConstantOp>(loc, builder.getI64Type(), builder.getI64IntegerAttr(value));
  }
  Value entryOf(Value array, int64_t number) {
    return builder.create<LLVM::GEPOp>(loc, pointer, pointer, array,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
  }
  void call(StringRef name, ValueRange arguments) {
    builder.create<LLVM::CallOp>(loc, TypeRange{}, name, arguments);
  }

  LLVM::LLVMFuncOp createFunction(StringRef name, unsigned parameters, LLVM::Linkage linkage) {
    builder.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()),
                                            SmallVector<Type>(parameters, pointer));
    auto function = builder.create<LLVM::LLVMFuncOp>(loc, name, type, linkage);
    builder.setInsertionPointToStart(function.addEntryBlock(builder));
    return function;
  }

  template <typename T>
  Value createTable(StringRef name, ArrayRef<T> values) {
    Type element = builder.getIntegerType(8 * sizeof(T));
    auto count = static_cast<int64_t>(values.size());
    auto data = DenseElementsAttr::get(RankedTensorType::get(count, element), values);
    auto global = OpBuilder::atBlockEnd(module.getBody())
                      .create<LLVM::GlobalOp>(loc, LLVM::LLVMArrayType::get(element, count),
                                              /*isConstant=*/true, LLVM::Linkage::Internal, name, data);
    return builder.create<LLVM::AddressOfOp>(loc, global);
  }

  /// `void NAME.entry(context, operands)`: the form in which the runtime calls a function of rank programs.
  std::string getEntry(rank::ActionOp action) {
    std::string name = (action.getCallee() + ".entry").str();
    if (!entries.insert(name).second)
      return name;
    OpBuilder::InsertionGuard guard(builder);
    LLVM::LLVMFuncOp function = createFunction(name, 2, LLVM::Linkage::Internal);
    SmallVector<Value> arguments{function.getArgument(0)};
    for (unsigned number = 0; number < action->getNumOperands(); ++number)
      arguments.push_back(
          builder.create<LLVM::LoadOp>(loc, pointer, entryOf(function.getArgument(1), number)));
    call((action.getCallee() + ".rank").str(), arguments);
    builder.create<LLVM::ReturnOp>(loc, ValueRange{});
    return name;
  }

  /// `firstAction`: number of the first step in the manifest's list.
  void lower(rank::ScheduleOp schedule, const ScheduleTable &table, int64_t firstAction) {
    std::string name = schedule.getFunctionName();
    Value context = createFunction(name, 1, LLVM::Linkage::External).getArgument(0);
    auto allocate = [&](int64_t count) {
      return builder.create<LLVM::AllocaOp>(loc, pointer, pointer, i64(std::max<int64_t>(count, 1)));
    };
    Value functions = allocate(int64_t(table.getFunctions().size())),
          operands = allocate(table.getMostOperands());
    for (auto [number, called] : llvm::enumerate(table.getFunctions())) {
      Value address = builder.create<LLVM::AddressOfOp>(loc, pointer, getEntry(called.second));
      builder.create<LLVM::StoreOp>(loc, address, entryOf(functions, int64_t(number)));
    }
    Value steps = createTable(name + ".steps", table.getSteps());
    Value entries = createTable(name + ".entries", table.getEntries());
    Value words = createTable(name + ".words", table.getWords());
    call("par_run",
         {context, steps, i64(table.countSteps()), i64(firstAction), entries, words, functions, operands});
    builder.create<LLVM::ReturnOp>(loc, ValueRange{});
  }

  ModuleOp module;
  Location loc;
  OpBuilder builder;
  Type pointer;
  std::set<std::string> entries; ///< that are written
};
} // namespace

LogicalResult par::lowerSchedules(ModuleOp module) { return ScheduleLowering(module).run(); }

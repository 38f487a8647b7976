//===- DistinctKernels.cpp - the kernels of many programs, each once ------------------------------------===//
#include "DistinctKernels.h"
#include "CutRows.h"
#include "mlir/IR/Verifier.h"
#include "par/Conversion/KernelNames.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Dialect/Rank/IR/Epilogue.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par;

DistinctKernels::DistinctKernels(ModuleOp like, llvm::StringSet<> &known, int64_t rows)
    : module(ModuleOp::create(like.getLoc())), known(known), rows(rows) {
  Plan plan;
  plan.target = TargetKind::Cuda;
  plan.chip = getPlan(like).getPlan().chip;
  setPlan(*module, plan, CompilePhase::Lower);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  for (auto mesh : like.getOps<MeshOp>())
    builder.clone(*mesh);
}

void DistinctKernels::add(ModuleOp program, const std::string &where) {
  (void)nameKernels(program, [&](rank::WorkOpInterface work, StringRef) {
    auto gemm = dyn_cast<rank::GemmOp>(*work);
    OwningOpRef<rank::KernelOp> epilogue = gemm ? rank::separateEpilogue(gemm) : nullptr;
    add(epilogue ? cast<rank::WorkOpInterface>(epilogue->getOperation()) : work, where);
    return success();
  });
}

/// Buffers of the sizes of their tensors.
static void setBuffers(rank::WorkOpInterface work, rank::FuncOp function) {
  SmallVector<Type> tensors(work.getBody().getArgumentTypes()), types;
  llvm::append_range(tensors, work.getBody().front().getTerminator()->getOperandTypes());
  for (auto [argument, tensor] : llvm::zip(function.getBody().getArguments(), tensors)) {
    int64_t bytes = rank::getBytes(cast<RankedTensorType>(tensor));
    argument.setType(rank::BufferType::get(work.getContext(), bytes, rank::Space::Device));
    types.push_back(argument.getType());
  }
  function.setFunctionType(FunctionType::get(work.getContext(), types, {}));
}

static void setScratch(rank::WorkOpInterface work, ValueRange buffers) {
  llvm::TypeSwitch<Operation *>(work).Case<rank::KernelOp, rank::AttentionOp>(
      [&](auto op) { op.getScratchMutable().assign(buffers); });
}

static void addScratch(rank::WorkOpInterface work) {
  OpBuilder builder(work);
  SmallVector<Value> buffers;
  for (int64_t bytes : findTarget(TargetKind::Cuda)->getWorkspaceBytes(work)) {
    auto type = rank::BufferType::get(work.getContext(), bytes, rank::Space::Device);
    auto scratch = builder.create<rank::AllocOp>(work.getLoc(), type, rank::Category::Workspace);
    scratch.setOffset(0);
    buffers.push_back(scratch.getBuffer());
  }
  setScratch(work, buffers);
}

/// In a function whose arguments are its buffers.
rank::WorkOpInterface DistinctKernels::copy(rank::WorkOpInterface work) {
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  Location loc = builder.getUnknownLoc();
  SmallVector<Type> types(work.getIns().getTypes());
  llvm::append_range(types, work.getOuts().getTypes());
  auto function = builder.create<rank::FuncOp>(
      loc, "f" + std::to_string(places.size()), builder.getFunctionType(types, {}), work.getOuts().size(),
      builder.getI64IntegerAttr(0), DenseI64ArrayAttr(), ArrayAttr(), ArrayAttr());
  Block &body = function.getBody().emplaceBlock();
  body.addArguments(types, SmallVector<Location>(types.size(), loc));
  builder.setInsertionPointToStart(&body);
  auto copied = cast<rank::WorkOpInterface>(builder.clone(*work));
  for (const char *name : {"reads", "writes", "work"})
    copied->removeAttr(name);
  setScratch(copied, {});
  copied->setOperands(body.getArguments());
  builder.create<rank::ReturnOp>(loc, DenseI64ArrayAttr());
  return copied;
}

/// What a kernel is made of, and the mesh if it asks where its rank is.
std::string DistinctKernels::print(rank::WorkOpInterface work) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  work->print(stream, OpPrintingFlags().useLocalScope());
  if (llvm::any_of(work.getBody().front(), [](Operation &op) { return isa<AxisIndexOp, AllSliceOp>(op); }))
    stream << getMesh(*module);
  return text;
}

void DistinctKernels::add(rank::WorkOpInterface work, const std::string &where) {
  rank::WorkOpInterface copied = copy(work);
  auto function = copied->getParentOfType<rank::FuncOp>();
  if (isa<rank::KernelOp>(*copied))
    cutRows(copied.getBody().front(), rows);
  setBuffers(copied, function);
  if (!known.insert(print(copied)).second) {
    function.erase();
    return;
  }
  if (failed(verify(function)))
    llvm::report_fatal_error("a kernel with few rows is none");
  addScratch(copied);
  places.push_back(where);
}

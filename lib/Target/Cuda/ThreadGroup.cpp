//===- ThreadGroup.cpp - threads of a block that work together ------------------------------------===//
#include "ThreadGroup.h"
#include "KernelEntry.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static constexpr unsigned kSharedSpace = 3;

SharedArray::SharedArray(Scalars &scalars, int64_t size, Type element) : scalars(scalars), element(element) {
  OpBuilder &builder = scalars.builder;
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto globals = module.getOps<LLVM::GlobalOp>();
  std::string name = "shared_" + std::to_string(std::distance(globals.begin(), globals.end()));
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    global = builder.create<LLVM::GlobalOp>(scalars.loc, LLVM::LLVMArrayType::get(element, size),
                                            /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute(),
                                            /*alignment=*/16, kSharedSpace);
  }
  array = builder.create<LLVM::AddressOfOp>(scalars.loc, global);
}

/// One symbol for all kernels.
static constexpr llvm::StringLiteral kOfLaunch = "shared_of_launch";

Value par::findLaunchShared(Scalars &scalars) {
  OpBuilder &builder = scalars.builder;
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(kOfLaunch);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
    global = builder.create<LLVM::GlobalOp>(scalars.loc, type, /*isConstant=*/false, LLVM::Linkage::External,
                                            kOfLaunch, Attribute(), /*alignment=*/kAccessBytes, kSharedSpace);
  }
  return builder.create<LLVM::AddressOfOp>(scalars.loc, global);
}

Value SharedArray::getAddress(Value index) {
  OpBuilder &builder = scalars.builder;
  Value number = scalars.create<arith::IndexCastUIOp>(builder.getI64Type(), index);
  return builder.create<LLVM::GEPOp>(scalars.loc, array.getType(), element, array,
                                     ArrayRef<LLVM::GEPArg>{number});
}

Value SharedArray::load(Value index) { return scalars.create<LLVM::LoadOp>(element, getAddress(index)); }

void SharedArray::store(Value value, Value index) {
  scalars.builder.create<LLVM::StoreOp>(scalars.loc, value, getAddress(index));
}

void par::createBarrier(Scalars &scalars) { scalars.builder.create<NVVM::Barrier0Op>(scalars.loc); }

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

ThreadGroup::ThreadGroup(Scalars &scalars, int32_t threads, int32_t block)
    : threads(threads), scalars(scalars) {
  thread = readRegister<NVVM::ThreadIdXOp>(scalars.builder, scalars.loc);
  number = readRegister<NVVM::BlockIdXOp>(scalars.builder, scalars.loc);
  if (int32_t groups = block / threads; groups > 1) {
    Value size = scalars.constantIndex(threads);
    Value first = scalars.create<arith::MulIOp>(number, scalars.constantIndex(groups));
    number = scalars.create<arith::AddIOp>(first, scalars.create<arith::DivUIOp>(thread, size));
    thread = scalars.create<arith::RemUIOp>(thread, size);
  }
}

Value ThreadGroup::isFirst() {
  return scalars.compare(arith::CmpIPredicate::eq, thread, scalars.constantIndex(0));
}

Value ThreadGroup::shuffle(Value value, int32_t distance) {
  auto number = [&](int32_t value) {
    return scalars.create<LLVM::ConstantOp>(scalars.builder.getI32Type(),
                                            scalars.builder.getI32IntegerAttr(value));
  };
  return scalars.create<NVVM::ShflOp>(value.getType(), number(-1), value, number(distance), number(31),
                                      NVVM::ShflKind::bfly, UnitAttr());
}

/// Of every `lanes` lanes side by side: both of a pair compute the same sum of the same two.
void ThreadGroup::combineLanes(ArrayRef<ReduceKind> kinds, MutableArrayRef<Value> values, int32_t lanes) {
  for (int32_t distance = lanes / 2; distance > 0; distance /= 2)
    for (auto [kind, value] : llvm::zip(kinds, values))
      value = scalars.combine(kind, value, shuffle(value, distance));
}

Value ThreadGroup::combine(ReduceKind kind, Value value) {
  return combine(ArrayRef(kind), SmallVector<Value>{value}).front();
}

SmallVector<Value> ThreadGroup::combine(ArrayRef<ReduceKind> kinds, SmallVector<Value> values) {
  combineLanes(kinds, values, kWarp);
  if (isWarp())
    return values;
  int32_t warps = threads / kWarp;
  SmallVector<SharedArray> ofWarps;
  for (Value value : values)
    ofWarps.emplace_back(scalars, turn ? 2 * warps : warps, value.getType());
  Value lane = scalars.create<arith::RemUIOp>(thread, scalars.constantIndex(kWarp));
  Value isFirstLane = scalars.compare(arith::CmpIPredicate::eq, lane, scalars.constantIndex(0));
  auto conditional = scalars.builder.create<scf::IfOp>(scalars.loc, isFirstLane, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(scalars.builder);
    scalars.builder.setInsertionPointToStart(conditional.thenBlock());
    Value warp = inTurn(scalars.create<arith::DivUIOp>(thread, scalars.constantIndex(kWarp)));
    for (auto [array, value] : llvm::zip(ofWarps, values))
      array.store(value, warp);
  }
  createBarrier(scalars);
  auto lanes = static_cast<int32_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(warps)));
  Value warp = scalars.create<arith::RemUIOp>(lane, scalars.constantIndex(lanes)), isWarp;
  if (lanes > warps) {
    isWarp = scalars.compare(arith::CmpIPredicate::ult, warp, scalars.constantIndex(warps));
    warp = scalars.select(isWarp, warp, scalars.constantIndex(0));
  }
  warp = inTurn(warp);
  for (auto [array, kind, value] : llvm::zip(ofWarps, kinds, values)) {
    value = array.load(warp);
    if (isWarp)
      value = scalars.select(isWarp, value, scalars.neutral(kind, value.getType()));
  }
  combineLanes(kinds, values, lanes);
  return values;
}

Value ThreadGroup::inTurn(Value warp) {
  if (!turn)
    return warp;
  Value warps = scalars.constantIndex(threads / kWarp);
  return scalars.create<arith::AddIOp>(scalars.create<arith::MulIOp>(turn, warps), warp);
}

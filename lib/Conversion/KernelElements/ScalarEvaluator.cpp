//===- ScalarEvaluator.cpp - one element of a value of a kernel ----------------------------------------===//
#include "par/Conversion/ScalarEvaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "par/Conversion/RuntimeRecords.h"
#include "par/Dialect/Par/IR/PickedTerm.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

ScalarEvaluator::Key ScalarEvaluator::makeKey(Value value, ArrayRef<Value> index) {
  Key key(value.getAsOpaquePointer(), {});
  for (Value each : index)
    key.second.push_back(each.getAsOpaquePointer());
  return key;
}

FailureOr<Value> ScalarEvaluator::evaluate(Value value, ArrayRef<Value> index) {
  Key key = makeKey(value, index);
  for (auto &scope : scopes)
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  FailureOr<Value> result = compute(value, index);
  if (succeeded(result))
    scopes.back()[key] = *result;
  return result;
}

void ScalarEvaluator::forget(function_ref<bool(Value)> isForgotten) {
  for (auto &scope : scopes)
    for (auto each = scope.begin(); each != scope.end();)
      each =
          isForgotten(Value::getFromOpaquePointer(each->first.first)) ? scope.erase(each) : std::next(each);
}

FailureOr<Value> ScalarEvaluator::compute(Value value, ArrayRef<Value> index) {
  if (auto memory = memories.find(value); memory != memories.end())
    return load(getElementTypeOrSelf(value), memory->second, index);
  auto kernel = dyn_cast<KernelOpInterface>(value.getDefiningOp());
  if (!kernel)
    return value.getDefiningOp()->emitOpError("kernel generation: no code for this op");
  return kernel.emitElement(elements, index);
}

bool ScalarEvaluator::isPicked(ReduceOp op) { return matchPickedTerm(op).has_value(); }

//===----------------------------------------------------------------------===//
// What lies beside the kernel
//===----------------------------------------------------------------------===//

/// A constant array beside the kernels, addressed at the kernel's entry.
Value ScalarEvaluator::buildTable(DenseElementsAttr value) {
  auto tensor = cast<RankedTensorType>(value.getType());
  MemRefType type = getMemoryType(tensor);
  if (type.getElementType() != tensor.getElementType())
    value = value.bitcast(type.getElementType());
  auto function = builder.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
  if (!function)
    function = cast<func::FuncOp>(builder.getInsertionBlock()->getParentOp());
  auto module = function->getParentOfType<ModuleOp>();
  std::string name;
  unsigned number = 0;
  for (auto global : module.getOps<memref::GlobalOp>()) {
    if (global.getInitialValue() == Attribute(value))
      name = global.getSymName().str();
    ++number;
  }
  OpBuilder::InsertionGuard guard(builder);
  if (name.empty()) {
    name = "table_" + std::to_string(number);
    builder.setInsertionPointToStart(module.getBody());
    builder.create<memref::GlobalOp>(loc, name, builder.getStringAttr("private"), type, value,
                                     /*constant=*/true, nullptr);
  }
  builder.setInsertionPointToStart(&function.front());
  return builder.create<memref::GetGlobalOp>(loc, type, name);
}

FailureOr<Value> ScalarEvaluator::Elements::readData(Value constant, DenseElementsAttr data,
                                                     ArrayRef<Value> index) {
  evaluator.bind(constant, evaluator.buildTable(data));
  return evaluator.compute(constant, index);
}

/// par_context.coords[position of the axis].
Value ScalarEvaluator::Elements::getCoordinate(StringRef axis) {
  int64_t position = 0;
  for (auto [number, name] : llvm::enumerate(evaluator.axes))
    if (name.getValue() == axis)
      position = number;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  using Record = RuntimeRecord<par_context>;
  Value field = create<LLVM::GEPOp>(pointer, Record::getType(builder.getContext()), evaluator.context,
                                    ArrayRef<LLVM::GEPArg>{0, Record::coords});
  Value coords = create<LLVM::LoadOp>(pointer, field);
  Value entry = create<LLVM::GEPOp>(pointer, builder.getI32Type(), coords,
                                    ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
  return create<LLVM::LoadOp>(builder.getI32Type(), entry);
}

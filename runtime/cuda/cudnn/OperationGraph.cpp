#include "cuda/cudnn/OperationGraph.h"

namespace par::cuda {

static constexpr int64_t alignment = 16;

Four packed(const Four &sizes) { return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1}; }

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

io::Status OperationGraph::describe(const GraphTensor &tensor, int64_t number, Place place,
                                    Descriptor &descriptor) const {
  PAR_TRY(descriptor.create(CUDNN_BACKEND_TENSOR_DESCRIPTOR));
  PAR_TRY(descriptor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, tensor.type));
  PAR_TRY(descriptor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, tensor.sizes.data()));
  PAR_TRY(descriptor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, tensor.strides.data()));
  PAR_TRY(descriptor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, number));
  PAR_TRY(descriptor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment));
  PAR_TRY(descriptor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, place == Place::nowhere));
  PAR_TRY(descriptor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, place == Place::host));
  return descriptor.finalize();
}

int64_t OperationGraph::add(const GraphTensor &tensor, Place place) {
  auto descriptor = std::make_unique<Descriptor>(cudnn);
  auto number = int64_t(tensors.size()) + 1;
  if (status.ok())
    note(describe(tensor, number, place, *descriptor));
  tensors.push_back({tensor, std::move(descriptor)});
  return number;
}

int64_t OperationGraph::memory(const GraphTensor &tensor) { return add(tensor, Place::memory); }
int64_t OperationGraph::between(const GraphTensor &tensor) { return add(tensor, Place::nowhere); }
int64_t OperationGraph::scalar() { return add({CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}}, Place::host); }

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

io::Status OperationGraph::addOperation(CudnnKind kind, CudnnName howName, const Descriptor *how,
                                        const std::vector<Operand> &operands) {
  auto operation = std::make_unique<Descriptor>(cudnn);
  PAR_TRY(operation->create(kind));
  if (how)
    PAR_TRY(operation->set(howName, *how));
  for (auto [name, number] : operands)
    if (number)
      PAR_TRY(operation->set(name, *tensors[size_t(number) - 1].descriptor));
  PAR_TRY(operation->finalize());
  operations.push_back(std::move(operation));
  return {};
}

io::Status OperationGraph::makePointwise(int mode, int axis, int type, OwnedDescriptor &how) {
  PAR_TRY(how->create(CUDNN_BACKEND_POINTWISE_DESCRIPTOR));
  PAR_TRY(how->set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode));
  PAR_TRY(how->set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, type));
  if (mode == CUDNN_POINTWISE_GEN_INDEX)
    PAR_TRY(how->set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, int64_t(axis)));
  return how->finalize();
}

/// Comparisons are computed as truths, all else in f32.
void OperationGraph::addPointwise(int mode, int axis, int64_t result, int64_t x, int64_t b, int64_t select) {
  if (!status.ok())
    return;
  bool compares = of(result).type == CUDNN_DATA_BOOLEAN;
  OwnedDescriptor &how = hows.emplace_back(std::make_unique<Descriptor>(cudnn));
  note(makePointwise(mode, axis, compares ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT, how));
  if (status.ok())
    note(addOperation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
                      CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how.get(),
                      {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
                       {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b},
                       {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, select},
                       {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, result}}));
}

void OperationGraph::pointwise(int mode, int64_t result, int64_t x, int64_t b, int64_t select) {
  addPointwise(mode, 0, result, x, b, select);
}

void OperationGraph::index(int axis, int64_t result, int64_t x) {
  addPointwise(CUDNN_POINTWISE_GEN_INDEX, axis, result, x, 0, 0);
}

io::Status OperationGraph::makeOf(CudnnKind kind, CudnnName typeName, OwnedDescriptor &how) {
  PAR_TRY(how->create(kind));
  return how->set(typeName, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
}

void OperationGraph::multiply(int64_t result, int64_t a, int64_t b) {
  if (!status.ok())
    return;
  OwnedDescriptor &how = hows.emplace_back(std::make_unique<Descriptor>(cudnn));
  note(makeOf(CUDNN_BACKEND_MATMUL_DESCRIPTOR, CUDNN_ATTR_MATMUL_COMP_TYPE, how));
  if (status.ok())
    note(how->finalize());
  if (status.ok())
    note(addOperation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_DESC, how.get(),
                      {{CUDNN_ATTR_OPERATION_MATMUL_ADESC, a},
                       {CUDNN_ATTR_OPERATION_MATMUL_BDESC, b},
                       {CUDNN_ATTR_OPERATION_MATMUL_CDESC, result}}));
}

void OperationGraph::reduce(int operation, int64_t result, int64_t x) {
  if (!status.ok())
    return;
  OwnedDescriptor &how = hows.emplace_back(std::make_unique<Descriptor>(cudnn));
  note(makeOf(CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_REDUCTION_COMP_TYPE, how));
  if (status.ok())
    note(how->set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, operation));
  if (status.ok())
    note(how->finalize());
  if (status.ok())
    note(addOperation(
        CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_ATTR_OPERATION_REDUCTION_DESC, how.get(),
        {{CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x}, {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, result}}));
}

void OperationGraph::reshape(int64_t result, int64_t x) {
  if (status.ok())
    note(addOperation(
        CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, 0, nullptr,
        {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, result}}));
}

io::Status OperationGraph::finish() {
  PAR_TRY(status);
  std::vector<const Descriptor *> all;
  for (const OwnedDescriptor &operation : operations)
    all.push_back(operation.get());
  PAR_TRY(graph.create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
  PAR_TRY(graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, all));
  return graph.finalize();
}

} // namespace par::cuda

#include "standin/cudnn/Descriptors.h"

#include <cstring>

namespace par::standin {

using namespace cuda;
using Rules = std::vector<AttributeRule>;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static const std::map<CudnnKind, Rules> &rules() {
  constexpr CudnnType of = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  static const std::map<CudnnKind, Rules> all = {
      {CUDNN_BACKEND_TENSOR_DESCRIPTOR,
       {{CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1},
        {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4},
        {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4},
        {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1},
        {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1},
        {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, false},
        {CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, false}}},
      {CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
       {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1},
        {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1},
        {CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, false}}},
      {CUDNN_BACKEND_MATMUL_DESCRIPTOR, {{CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1}}},
      {CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
       {{CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1},
        {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1}}},
      {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, of, 1},
        {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, of, 1},
        {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, of, 1, false},
        {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, of, 1, false},
        {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, of, 1}}},
      {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_MATMUL_DESC, of, 1},
        {CUDNN_ATTR_OPERATION_MATMUL_ADESC, of, 1},
        {CUDNN_ATTR_OPERATION_MATMUL_BDESC, of, 1},
        {CUDNN_ATTR_OPERATION_MATMUL_CDESC, of, 1}}},
      {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, of, 1},
        {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, of, 1},
        {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, of, 1}}},
      {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, of, 1}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, of, 1}}},
      {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, {{CUDNN_ATTR_OPERATIONGRAPH_OPS, of, 0}}},
      {CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
       {{CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, false},
        {CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, false}}},
      {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
       {{CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1},
        {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, of, 1},
        {CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, of, 1}}},
      {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, {}},
      {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
       {{CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, of, 1, false},
        {CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, false},
        {CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, of, 1, false}}},
      {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
       {{CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 0},
        {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 0},
        {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1}}}};
  return all;
}

bool isKnown(CudnnKind kind) { return rules().count(kind) != 0; }

static size_t sizeOf(CudnnType type) {
  bool isLong = type == CUDNN_TYPE_HANDLE || type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_VOID_PTR ||
                type == CUDNN_TYPE_BACKEND_DESCRIPTOR;
  return type == CUDNN_TYPE_BOOLEAN || type == CUDNN_TYPE_CHAR ? 1 : isLong ? 8 : 4;
}

std::string set(Descriptor &descriptor, CudnnName name, CudnnType type, int64_t count, const void *values) {
  std::string which =
      "attribute " + std::to_string(name) + " of descriptor kind " + std::to_string(descriptor.kind);
  if (descriptor.isFinal)
    return which + " is set after it was finalized";
  const AttributeRule *rule = nullptr;
  for (const AttributeRule &each : rules().at(descriptor.kind))
    if (each.name == name)
      rule = &each;
  if (!rule)
    return which + " is not known here";
  if (type != rule->type)
    return which + " has type " + std::to_string(type) + ", expected " + std::to_string(rule->type);
  if (count < 1 || (rule->count && count != rule->count))
    return which + " has " + std::to_string(count) + " elements, expected " + std::to_string(rule->count);
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    for (int64_t i = 0; i < count; ++i)
      if (auto *other = static_cast<Descriptor *const *>(values)[i]; !other || !other->isFinal)
        return which + " is a descriptor that was not finalized";
  descriptor.bytes[name].assign(static_cast<const char *>(values), size_t(count) * sizeOf(type));
  descriptor.counts[name] = count;
  return "";
}

//===----------------------------------------------------------------------===//
// What they come to
//===----------------------------------------------------------------------===//

static std::string finalizeTensor(Descriptor &descriptor) {
  TensorShape &tensor = descriptor.tensor;
  tensor.type = descriptor.at<int>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  tensor.sizes = descriptor.at<Index>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  tensor.strides = descriptor.at<Index>(CUDNN_ATTR_TENSOR_STRIDES);
  tensor.number = descriptor.at<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  tensor.alignment = descriptor.at<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  tensor.isVirtual =
      descriptor.has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) && descriptor.at<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  tensor.isByValue =
      descriptor.has(CUDNN_ATTR_TENSOR_IS_BY_VALUE) && descriptor.at<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  for (size_t dim = 0; dim < 4; ++dim)
    if (tensor.sizes[dim] < 1 || tensor.strides[dim] < 1)
      return "a tensor with a dimension of " + std::to_string(tensor.sizes[dim]) + " elements";
  bool isSmall = tensor.type == CUDNN_DATA_FLOAT || tensor.type == CUDNN_DATA_BFLOAT16;
  if (tensor.number == 0 || (tensor.isInMemory() && !isSmall) || (tensor.isVirtual && tensor.isByValue))
    return "a tensor without a number, of another type, or in two places";
  return tensor.isByValue && tensor.elements() != 1 ? "a tensor by value of several elements" : "";
}

static TensorShape tensorOf(const Descriptor &descriptor, CudnnName name) {
  return descriptor.has(name) ? descriptor.other(name).tensor : TensorShape();
}

static std::string finalizeOperation(Descriptor &descriptor) {
  Operation &op = descriptor.operation;
  if (descriptor.kind == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
    Descriptor &how = descriptor.other(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    op = {Operation::Kind::pointwise,
          how.at<int>(CUDNN_ATTR_POINTWISE_MODE),
          0,
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_POINTWISE_BDESC),
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_POINTWISE_TDESC),
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_POINTWISE_YDESC)};
    if ((op.mode == CUDNN_POINTWISE_GEN_INDEX) != how.has(CUDNN_ATTR_POINTWISE_AXIS))
      return "an axis is of indices alone, and they need one";
    if (op.mode == CUDNN_POINTWISE_GEN_INDEX)
      op.axis = int(how.at<int64_t>(CUDNN_ATTR_POINTWISE_AXIS));
  } else if (descriptor.kind == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
    op = {Operation::Kind::multiply,
          0,
          0,
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_MATMUL_ADESC),
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_MATMUL_BDESC),
          {},
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_MATMUL_CDESC)};
  } else if (descriptor.kind == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
    Descriptor &how = descriptor.other(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
    op = {Operation::Kind::reduce,
          how.at<int>(CUDNN_ATTR_REDUCTION_OPERATOR),
          0,
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_REDUCTION_XDESC),
          {},
          {},
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_REDUCTION_YDESC)};
  } else {
    op = {Operation::Kind::reshape,
          0,
          0,
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_RESHAPE_XDESC),
          {},
          {},
          tensorOf(descriptor, CUDNN_ATTR_OPERATION_RESHAPE_YDESC)};
  }
  return op.problem();
}

static std::string finalizeGraph(Descriptor &descriptor) {
  descriptor.graph = std::make_shared<Graph>();
  for (int64_t i = 0; i < descriptor.counts.at(CUDNN_ATTR_OPERATIONGRAPH_OPS); ++i)
    if (std::string problem =
            descriptor.graph->add(descriptor.other(CUDNN_ATTR_OPERATIONGRAPH_OPS, size_t(i)).operation);
        !problem.empty())
      return "operation " + std::to_string(i) + ": " + problem;
  return "";
}

std::string printPlan(const Graph &graph) {
  return "{\"cudnnVersion\":" + std::to_string(libraryVersion()) + ",\"graph\":\"" + graph.print() + "\"}";
}

/// Of an engine for a graph, or of what `printPlan` made.
static std::string finalizePlan(Descriptor &descriptor) {
  bool isRead = descriptor.has(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
  if (isRead == descriptor.has(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) ||
      isRead != descriptor.has(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP))
    return "a plan is of an engine, or of a text and a device";
  if (!isRead) {
    descriptor.graph = descriptor.other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).graph;
    return "";
  }
  const std::string &text = descriptor.bytes.at(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
  std::string head = printPlan({}), tail = "\"}";
  head.resize(head.size() - tail.size());
  bool isOurs = text.size() > head.size() + tail.size() && text.compare(0, head.size(), head) == 0;
  descriptor.graph = std::make_shared<Graph>();
  descriptor.isSupported =
      isOurs &&
      descriptor.graph->parse(text.substr(head.size(), text.size() - head.size() - tail.size())).empty();
  return "";
}

std::string finalize(Descriptor &descriptor) {
  for (const AttributeRule &rule : rules().at(descriptor.kind))
    if (rule.isNeeded && !descriptor.has(rule.name))
      return "descriptor kind " + std::to_string(descriptor.kind) + " has no attribute " +
             std::to_string(rule.name);
  std::string problem;
  switch (descriptor.kind) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    problem = finalizeTensor(descriptor);
    break;
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
    problem = finalizeOperation(descriptor);
    break;
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    problem = finalizeGraph(descriptor);
    break;
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    descriptor.graph = descriptor.other(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).graph;
    break;
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    problem = finalizePlan(descriptor);
    break;
  case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
    if (descriptor.has(CUDNN_ATTR_DEVICEPROP_HANDLE) ==
        descriptor.has(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION))
      problem = "a device is that of a handle, or one that is described";
    break;
  default:
    break;
  }
  descriptor.isFinal = problem.empty() && descriptor.isSupported;
  return problem;
}

} // namespace par::standin

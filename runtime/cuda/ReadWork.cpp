#include "cuda/ReadWork.h"

#include <algorithm>
#include <array>

namespace par::cuda {

using Node = io::JsonNode;

/// Far above any memory, and low enough to be multiplied.
static constexpr int64_t mostElements = int64_t(1) << 40;

/// The number of a name in a list.
template <size_t Count>
static int choose(const Node &node, const std::array<const char *, Count> &names) {
  std::string text = node.text(), all;
  for (size_t i = 0; i < Count; ++i) {
    if (text == names[i])
      return int(i);
    all += std::string(i == 0 ? "" : i + 1 == Count ? " or " : ", ") + names[i];
  }
  node.fail("is \"" + text + "\", expected " + all);
}

static ProductType parseProductType(const Node &node) {
  return ProductType(choose<2>(node, {"f32", "bf16"}));
}

static void readThree(const Node &node, std::array<int64_t, 3> most, uint32_t (&numbers)[3]) {
  std::vector<Node> items = node.items();
  if (items.size() != 3)
    node.fail("has " + std::to_string(items.size()) + " numbers, expected 3");
  for (size_t i = 0; i < 3; ++i)
    numbers[i] = uint32_t(items[i].integer(1, most[i]));
}

/// Limits are those of all GPUs that par has chips of.
static KernelWork parseKernel(const Node &node) {
  KernelWork kernel;
  kernel.name = node["name"].text();
  kernel.plan = node["plan"].text();
  readThree(node["grid"], {INT32_MAX, 65535, 65535}, kernel.grid);
  readThree(node["block"], {1024, 1024, 64}, kernel.block);
  if (int64_t(kernel.block[0]) * kernel.block[1] * kernel.block[2] > 1024)
    node["block"].fail("has more than 1024 threads");
  kernel.sharedBytes = uint32_t(node["shared_bytes"].integer(0, 227 << 10));
  kernel.takesCoordinates = node["coords"].boolean();
  for (const Node &item : node["buffers"].items()) {
    KernelBuffer &buffer = kernel.buffers.emplace_back();
    buffer.bytes = item["bytes"].integer(0, 8 * mostElements);
    buffer.access = BufferAccess(choose<3>(item["access"], {"read", "write", "update"}));
    buffer.onHost = choose<2>(item["space"], {"device", "host"}) == 1;
  }
  return kernel;
}

/// A row's elements, and the rows of one matrix after those of the one before.
static void checkMatrix(const Node &node, const char *name, int64_t rows, int64_t columns, int64_t ld) {
  if (ld < columns)
    node[std::string("ld") + name].fail("is " + std::to_string(ld) + ", below the " +
                                        std::to_string(columns) + " elements of a row");
  if (rows > mostElements / ld)
    node.fail("has a matrix of more elements than a memory has");
}

static Epilogue parseEpilogue(const Node &node, const ProductWork &product) {
  auto epilogue = Epilogue(choose(node, epilogueNames));
  if (product.batch != 1)
    node.fail("is of a batch, expected one product");
  if ((epilogue == Epilogue::biasGeluAux || epilogue == Epilogue::geluGradient) && product.ldc % 8 != 0)
    node.fail("has rows of " + std::to_string(product.ldc) + " elements, expected a multiple of 8");
  return epilogue;
}

/// A kernel on buffers of a call, which has `count` of them.
static InnerLaunch parseLaunch(const Node &node, size_t count, const std::vector<KernelWork> &kernels) {
  InnerLaunch launch;
  launch.kernel = int32_t(node["kernel"].integer(0, int64_t(kernels.size()) - 1));
  const KernelWork &kernel = kernels[size_t(launch.kernel)];
  launch.how = kernel.plan + ", " + std::to_string(kernel.grid[0]) + " x " + std::to_string(kernel.block[0]);
  std::vector<Node> numbers = node["buffers"].items();
  if (numbers.size() != kernel.buffers.size())
    node["buffers"].fail("has " + std::to_string(numbers.size()) + " numbers, but kernel " + kernel.name +
                         " has " + std::to_string(kernel.buffers.size()) + " buffers");
  for (size_t i = 0; i < numbers.size(); ++i)
    launch.buffers.push_back({size_t(numbers[i].integer(0, int64_t(count) - 1)), kernel.buffers[i].bytes});
  return launch;
}

static InnerLaunch parseEpilogueLaunch(const Node &node, const ProductWork &product,
                                       const std::vector<KernelWork> &kernels) {
  InnerLaunch launch = parseLaunch(node, ProductWork::mostBuffers, kernels);
  std::vector<Node> numbers = node["buffers"].items();
  for (size_t i = 0; i < numbers.size(); ++i) {
    size_t number = launch.buffers[i].number;
    if (number == 2 || (number == 4 && !product.hasVector()) || (number == 5 && !product.hasAux()))
      numbers[i].fail("is a buffer that the product's call does not have");
  }
  return launch;
}

static ProductWork parseProduct(const Node &node, const std::vector<KernelWork> &kernels) {
  auto size = [&](const char *name, int64_t least) { return node[name].integer(least, mostElements); };
  ProductWork product;
  product.m = size("m", 1), product.n = size("n", 1), product.k = size("k", 1);
  product.batch = node["batch"].integer(1, INT32_MAX);
  product.transposeA = node["transpose_a"].boolean(), product.transposeB = node["transpose_b"].boolean();
  product.type = parseProductType(node["type"]), product.result = parseProductType(node["result"]);
  product.lda = size("lda", 1), product.strideA = size("stride_a", 0);
  product.ldb = size("ldb", 1), product.strideB = size("stride_b", 0);
  product.ldc = size("ldc", 1), product.strideC = size("stride_c", 0);
  product.beta = Beta(choose<3>(node["beta"], {"none", "one", "value"}));
  if (node.has("epilogue"))
    product.epilogue = parseEpilogue(node["epilogue"], product);
  if (node.has("separate") && product.epilogue == Epilogue::none)
    node["separate"].fail("is of an epilogue, but the product has none");
  for (const Node &item : node.has("separate") ? node["separate"].items() : std::vector<Node>())
    product.separate.push_back(parseEpilogueLaunch(item, product, kernels));
  product.workspace = node["workspace"].integer(0, mostElements);
  if (product.type == ProductType::f32 && product.result == ProductType::bf16)
    node["result"].fail("is bf16, but A and B are f32");
  checkMatrix(node, "a", product.transposeA ? product.k : product.m,
              product.transposeA ? product.m : product.k, product.lda);
  checkMatrix(node, "b", product.transposeB ? product.n : product.k,
              product.transposeB ? product.k : product.n, product.ldb);
  checkMatrix(node, "c", product.m, product.n, product.ldc);
  return product;
}

/// A buffer of an attention; `count`: how many it has.
static int parseBuffer(const Node &node, int64_t count) { return int(node.integer(0, count - 1)); }

/// Rows that hold heads, each at a multiple of 16 bytes.
static AttentionRows parseRows(const Node &node, const AttentionWork &work, int64_t heads) {
  std::vector<Node> items = node.items();
  if (items.size() != 3)
    node.fail("has " + std::to_string(items.size()) + " numbers, expected 3");
  AttentionRows rows;
  rows.buffer = parseBuffer(items[0], work.bufferCount);
  rows.offset = items[1].integer(0, mostElements);
  rows.stride = items[2].integer(heads * work.headDim, mostElements);
  if (rows.offset % 8 != 0 || rows.stride % 8 != 0)
    node.fail("begins at " + std::to_string(rows.offset) + " and has rows of " + std::to_string(rows.stride) +
              " elements, expected multiples of 8");
  return rows;
}

static void parseAttentionSizes(const Node &node, AttentionWork &work) {
  constexpr int64_t most = INT32_MAX;
  work.isBackward = node["backward"].boolean(), work.causal = node["causal"].boolean();
  work.batch = node["batch"].integer(1, most);
  work.qRows = work.kRows = node["rows"].integer(1, most);
  work.kvHeads = node["kv_heads"].integer(1, 1 << 16), work.group = node["group"].integer(1, 1 << 12);
  work.headDim = node["head_dim"].integer(8, 128);
  if (work.headDim % 8 != 0)
    node["head_dim"].fail("is " + std::to_string(work.headDim) + ", expected a multiple of 8");
  work.scale = float(node["scale"].number());
  work.window = node["window"].integer(0, most);
  if (work.window && !work.causal)
    node["window"].fail("is " + std::to_string(work.window) + " without a causal mask, expected 0");
}

static AttentionWork parseAttention(const Node &node, const std::vector<KernelWork> &kernels) {
  AttentionWork work{};
  parseAttentionSizes(node, work);
  work.bufferCount = node["buffers"].integer(1, 64);
  work.lse = parseBuffer(node["lse"], work.bufferCount);
  work.workspace = int(node["workspace"].integer(-1, work.bufferCount - 1));
  work.workspaceBytes = node["workspace_bytes"].integer(0, mostElements);
  if ((work.workspace < 0) != (work.workspaceBytes == 0))
    node["workspace"].fail("is " + std::to_string(work.workspace) + ", but it has " +
                           std::to_string(work.workspaceBytes) + " bytes");
  int64_t heads = work.kvHeads * work.group;
  auto read = [&](const char *name, int64_t count) { return parseRows(node[name], work, count); };
  work.q = read("q", heads), work.k = read("k", work.kvHeads), work.v = read("v", work.kvHeads);
  work.out = read("out", heads);
  if (work.isBackward) {
    work.dout = read("dout", heads), work.dq = read("dq", heads);
    work.dk = read("dk", work.kvHeads), work.dv = read("dv", work.kvHeads);
  }
  for (const Node &item : node["launches"].items())
    work.launches.push_back(parseLaunch(item, size_t(work.bufferCount), kernels));
  if (work.launches.empty())
    node["launches"].fail("is empty, expected the kernels that compute it");
  return work;
}

ProgramWork parseDeviceWork(const Node &program) {
  ProgramWork work;
  for (const Node &item : program["kernels"].items())
    work.kernels.push_back(parseKernel(item));
  for (const Node &item : program["products"].items())
    work.products.push_back(parseProduct(item, work.kernels));
  for (const Node &item : program["attentions"].items())
    work.attentions.push_back(parseAttention(item, work.kernels));
  return work;
}

} // namespace par::cuda

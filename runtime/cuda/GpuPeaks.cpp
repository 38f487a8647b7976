#include "cuda/GpuPeaks.h"

namespace par::cuda {

// NVIDIA's data sheets, in 10^12 per second: half of what they give "with sparsity". A longer name comes
// before one that it contains.
static const struct {
  const char *name;
  GpuPeaks tera;
} products[] = {
    {"B200", {75, 2250}},      {"H200 NVL", {60, 835.5}}, {"H200", {67, 989.5}},       {"GH200", {67, 989.5}},
    {"H100 NVL", {60, 835.5}}, {"H100 PCIe", {51, 756}},  {"H100", {67, 989.5}},       {"H800", {67, 989.5}},
    {"A100", {19.5, 312}},     {"A800", {19.5, 312}},     {"A10G", {31.2, 70}},        {"A10", {31.2, 125}},
    {"A40", {37.4, 149.7}},    {"L40S", {91.6, 362}},     {"L40", {90.5, 181}},        {"L4", {30.3, 121}},
    {"RTX 4090", {82.6, 165}}, {"RTX 3090", {35.6, 71}},  {"RTX A6000", {38.7, 154.8}}};

/// Whether `name` is in `text` as whole words.
static bool hasWords(const std::string &text, const std::string &name) {
  auto ends = [&](size_t at) { return at == text.size() || text[at] == ' ' || text[at] == '-'; };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if ((at == 0 || ends(at - 1)) && ends(at + name.size()))
      return true;
  return false;
}

GpuPeaks peaksOf(const std::string &product) {
  for (const auto &[name, tera] : products)
    if (hasWords(product, name))
      return {tera.f32 * 1e12, tera.bf16 * 1e12};
  return {};
}

} // namespace par::cuda

/// A matrix product as a rank's program computes it.
#ifndef PAR_MEASURE_PRODUCTRUN_H
#define PAR_MEASURE_PRODUCTRUN_H

#include "cpu/Context.h"
#include "measure/Measure.h"
#include "par/runtime.h"

namespace par::measure {

/// Two factors with rows behind each other, on as many threads as there are cores.
class ProductRun {
public:
  explicit ProductRun(const ProductFigure &shape)
      : shape(shape), device({cpu::availableCores()}), a(size_t(shape.m * shape.k), 0.5f),
        b(size_t(shape.k * shape.n), 0.25f), c(size_t(shape.m * shape.n)),
        narrowA(shape.bf16 ? a.size() : 0, 0x3F00), narrowB(shape.bf16 ? b.size() : 0, 0x3E80),
        narrowC(shape.bf16 ? c.size() : 0) {
    context.device = &device;
    if (shape.bf16)
      workspace.resize(size_t(par_gemm_bf16_workspace(shape.m, shape.n, shape.k)));
  }

  void run() {
    const auto &[bf16, m, n, k, seconds] = shape;
    if (bf16)
      par_gemm_bf16(&context, 0, 0, m, n, k, narrowA.data(), k, 0, narrowB.data(), n, 0, 0, nullptr,
                    narrowC.data(), n, 0, 1, 1, workspace.data(), int64_t(workspace.size()));
    else
      par_gemm(&context, 0, 0, m, n, k, a.data(), k, 0, b.data(), n, 0, 0, nullptr, c.data(), n, 0, 1);
  }

private:
  ProductFigure shape;
  cpu::CpuDevice device;
  device::Context context;
  std::vector<float> a, b, c;
  std::vector<uint16_t> narrowA, narrowB, narrowC;
  std::vector<char> workspace;
};

} // namespace par::measure
#endif

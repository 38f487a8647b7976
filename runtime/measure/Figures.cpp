#include "measure/Measure.h"

#include <nlohmann/json.hpp>

namespace par::measure {

std::string toJson(const Measurement &measurement, bool isLine) {
  using Json = nlohmann::ordered_json;
  Json products = Json::array(), kernels = products, attention = products, collectives = products,
       messages = products;
  for (const ProductFigure &figure : measurement.products)
    products.push_back({{"type", figure.bf16 ? "bf16" : "f32"},
                        {"m", figure.m},
                        {"n", figure.n},
                        {"k", figure.k},
                        {"seconds", figure.seconds}});
  for (const KernelFigure &figure : measurement.kernels)
    kernels.push_back({{"bytes", figure.bytes}, {"seconds", figure.seconds}});
  for (const AttentionFigure &figure : measurement.attention)
    attention.push_back({{"head_dim", figure.headDim},
                         {"rows", figure.rows},
                         {"heads", figure.heads},
                         {"backward", figure.backward},
                         {"seconds", figure.seconds}});
  for (const CollectiveFigure &figure : measurement.collectives)
    collectives.push_back({{"kind", figure.kind},
                           {"ranks", figure.ranks},
                           {"bytes", figure.bytes},
                           {"seconds", figure.seconds}});
  for (const MessageFigure &figure : measurement.messages)
    messages.push_back({{"bytes", figure.bytes}, {"seconds", figure.seconds}});
  return Json{{"version", 1},
              {"processor", measurement.processor},
              {"cores", measurement.cores},
              {"memory_bytes", measurement.memoryBytes},
              {"start_seconds", measurement.startSeconds},
              {"kernel_flops", measurement.kernelFlops},
              {"products", products},
              {"kernels", kernels},
              {"attention", attention},
              {"collectives", collectives},
              {"messages", messages},
              {"compute_share", measurement.overlap.computeShare},
              {"communicate_share", measurement.overlap.communicateShare}}
             .dump(isLine ? -1 : 2) +
         "\n";
}

} // namespace par::measure

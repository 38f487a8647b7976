// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %run/Helpers/compare_graph.py %s %t dp=2,tp=2 dp=3,tp=2 | FileCheck %s

// No transformer: one square weight is table, layer (transposed) and head, and each use wants it sharded in another way. Its gradient is the sum of three.
// CHECK-COUNT-2: agrees
module attributes {par.model = {model_type = "example", vocab = 7 : i64}, par.plan = #par.plan<mesh = ["dp" = 2, "tp" = 2]>} {
  par.mesh @mesh <["dp"=2, "tp"=2]>
  par.variable @w : tensor<7x7xf32> dims ["a", "b"]
    {role = #par.role<parameter>, file = #par.file<"w">, init = #par.init<normal, 0.7>, compute = #par.sharding<@mesh, [{"tp", ?}, {?}]>}
  func.func @forward(%tokens: tensor<6x5xi32> {par.place = #par.place<input tokens>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>},
                     %targets: tensor<6x5xi32> {par.place = #par.place<input targets>}, %w: tensor<7x7xf32> {par.place = #par.place<variable @w>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = par.embedding %tokens, %w : (tensor<6x5xi32>, tensor<7x7xf32>) -> tensor<6x5x7xf32>
    %x1 = par.constrain %x <@mesh, [{"dp"}, {}, {"tp"}]> : tensor<6x5x7xf32>
    %y = par.einsum "bsa,ac->bsc"(%x1, %w) : (tensor<6x5x7xf32>, tensor<7x7xf32>) -> tensor<6x5x7xf32>
    %y1 = par.constrain %y <@mesh, [{"tp"}, {"dp"}, {}]> : tensor<6x5x7xf32>
    %t = math.tanh %y1 : tensor<6x5x7xf32>
    %logits = par.einsum "bsa,va->bsv"(%t, %w) : (tensor<6x5x7xf32>, tensor<7x7xf32>) -> tensor<6x5x7xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 7 : i64} : (tensor<6x5x7xf32>, tensor<6x5xi32>) -> (tensor<6x5xf32>, tensor<6x5xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<6x5xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// RUN: par-compile %s --from propagate --mesh dp=2,tp=2 --to partition | FileCheck %s
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %run/Helpers/compare_graph.py %s %t tp=2 dp=2,tp=2 | FileCheck %s --check-prefix=MESH

// No transformer: a value goes two ways, each with a sharding of its own, and both meet again. Rows of 7 and 11 elements do not divide.
// MESH-COUNT-2: agrees

// CHECK-LABEL: func.func @forward(
// CHECK: math.cos {{.*}} : tensor<2x3x11xf32>
// CHECK: par.softmax {{.*}} : tensor<1x5x11xf32>
module attributes {par.model = {model_type = "example", vocab = 9 : i64}, par.plan = #par.plan<mesh = ["dp" = 2, "tp" = 2]>} {
  par.mesh @mesh <["dp"=2, "tp"=2]>
  par.variable @table : tensor<9x11xf32> dims ["rows", "width"]
    {role = #par.role<parameter>, file = #par.file<"table">, init = #par.init<normal, 0.7>, compute = #par.sharding<@mesh, [{}, {"tp"}]>}
  par.variable @head : tensor<9x11xf32> dims ["rows", "width"] {role = #par.role<parameter>, file = #par.file<"head">, init = #par.init<normal, 0.7>}
  func.func @forward(%tokens: tensor<4x5xi32> {par.place = #par.place<input tokens>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>},
                     %targets: tensor<4x5xi32> {par.place = #par.place<input targets>}, %table: tensor<9x11xf32> {par.place = #par.place<variable @table>}, %head: tensor<9x11xf32> {par.place = #par.place<variable @head>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = par.embedding %tokens, %table : (tensor<4x5xi32>, tensor<9x11xf32>) -> tensor<4x5x11xf32>
    %left = par.constrain %x <@mesh, [{"dp"}, {"tp"}, {}]> : tensor<4x5x11xf32>
    %cosine = math.cos %left : tensor<4x5x11xf32>
    %right = par.constrain %x <@mesh, [{"tp", "dp"}, {}, {}]> : tensor<4x5x11xf32>
    %weights = par.softmax %right : tensor<4x5x11xf32>
    %meet = arith.mulf %cosine, %weights : tensor<4x5x11xf32>
    %logits = par.einsum "bsw,vw->bsv"(%meet, %head) : (tensor<4x5x11xf32>, tensor<9x11xf32>) -> tensor<4x5x9xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 9 : i64} : (tensor<4x5x9xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<4x5xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

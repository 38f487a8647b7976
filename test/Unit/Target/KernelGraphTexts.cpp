//===- KernelGraphTexts.cpp - functions that have all ops which become kernels ----------------------===//
#include "KernelGraphs.h"

using namespace mlir;
using namespace mlir::par;

/// Ops of several results first, by themselves and behind what fuses with them.
static const KernelGraph kGraphs[] = {
    // Norms.
    {"layer_norm", "%x: $x, %w: $w, %b: $w",
     "%y, %m, %r = par.layer_norm %x, %w, %b {eps = 1.0e-5} : ($x, $w, $w) -> ($x, $s, $s)",
     "%y, %m, %r : $x, $s, $s"},
    {"rms_norm", "%x: $x, %w: $w", "%y, %r = par.rms_norm %x, %w {eps = 1.0e-5} : ($x, $w) -> ($x, $s)",
     "%y, %r : $x, $s"},
    {"rms_norm_of_heads", "%x: tensor<$nx3x2x9x$t>, %w: tensor<2x9x$t>",
     "%y, %r = par.rms_norm %x, %w {eps = 1.0e-5, offset = 1.0, count = 18} : (tensor<$nx3x2x9x$t>, "
     "tensor<2x9x$t>) -> "
     "(tensor<$nx3x2x9x$t>, tensor<$nx3xf32>)",
     "%y, %r : tensor<$nx3x2x9x$t>, tensor<$nx3xf32>"},
    {"rms_norm_of_heads_backward",
     "%d: tensor<$nx3x2x9x$t>, %x: tensor<$nx3x2x9x$t>, %w: tensor<2x9x$t>, %r: tensor<$nx3xf32>",
     "%dx, %dw = par.rms_norm_backward %d, %x, %w, %r {offset = 1.0, count = 18} : (tensor<$nx3x2x9x$t>, "
     "tensor<$nx3x2x9x$t>, tensor<2x9x$t>, tensor<$nx3xf32>) -> (tensor<$nx3x2x9x$t>, tensor<2x9xf32>)",
     "%dx, %dw : tensor<$nx3x2x9x$t>, tensor<2x9xf32>"},
    {"standardize", "%x: $x", "%y, %m, %r = par.standardize %x {eps = 1.0e-5} : ($x) -> ($x, $s, $s)",
     "%y, %m, %r : $x, $s, $s"},
    {"residual_layer_norm", "%a: $x, %b: $x, %w: $w",
     "%x = arith.addf %a, %b : $x\n"
     "%y, %m, %r = par.layer_norm %x, %w, %w {eps = 1.0e-5} : ($x, $w, $w) -> ($x, $s, $s)",
     "%x, %y, %m, %r : $x, $x, $s, $s"},
    {"residuals_rms_norm", "%a: $x, %b: $x, %c: $x, %w: $w",
     "%0 = arith.addf %a, %b : $x\n%x = arith.addf %0, %c : $x\n"
     "%y, %r = par.rms_norm %x, %w {eps = 1.0e-5} : ($x, $w) -> ($x, $s)",
     "%0, %x, %y, %r : $x, $x, $x, $s"},
    {"two_standardized", "%a: $x, %b: $x",
     "%x = arith.addf %a, %b : $x\n%z = arith.subf %a, %b : $x\n"
     "%y, %m, %r = par.standardize %x {eps = 1.0e-5} : ($x) -> ($x, $s, $s)\n"
     "%v, %n, %q = par.standardize %z {eps = 1.0e-5} : ($x) -> ($x, $s, $s)",
     "%y, %m, %n, %q : $x, $s, $s, $s"},
    {"layer_norm_backward", "%d: $x, %x: $x, %w: $w, %m: $s, %r: $s",
     "%dx, %dw, %db = par.layer_norm_backward %d, %x, %w, %m, %r : ($x, $x, $w, $s, $s) -> ($x, $W, $W)",
     "%dx, %dw, %db : $x, $W, $W"},
    {"rms_norm_backward", "%d: $x, %x: $x, %w: $w, %r: $s, %a: $W",
     "%dx, %dw = par.rms_norm_backward %d, %x, %w, %r : ($x, $x, $w, $s) -> ($x, $W)\n"
     "%sum = arith.addf %a, %dw : $W",
     "%dx, %sum : $x, $W"},
    {"standardize_backward", "%d: $x, %x: $x, %m: $s, %r: $s",
     "%dx = par.standardize_backward %d, %x, %m, %r : ($x, $x, $s, $s) -> $x", "%dx : $x"},
    // Losses.
    {"cross_entropy", "%x: $x, %t: $i",
     "%0, %1 = par.cross_entropy %x, %t {classes = 67} : ($x, $i) -> ($s, $s)", "%0, %1 : $s, $s"},
    {"cross_entropy_shard", "%x: $x, %t: $i, %o: tensor<i32>",
     "%0, %1 = par.cross_entropy_shard %x, %t offset %o {classes = 70} : ($x, $i, tensor<i32>) -> ($s, $s)",
     "%0, %1 : $s, $s"},
    {"cross_entropy_backward", "%d: $s, %x: $x, %t: $i, %l: $s",
     "%0 = par.cross_entropy_backward %d, %x, %t, %l {classes = 67} : ($s, $x, $i, $s) -> $x", "%0 : $x"},
    {"softmax", "%x: $x, %d: $x", "%y = par.softmax %x : $x\n%0 = par.softmax_backward %d, %y : $x",
     "%y, %0 : $x, $x"},
    // Updates.
    {"adamw",
     "%p: $X, %g: $x, %m: $X, %v: $X {test.positive}, %a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, "
     "%d: tensor<f32>",
     "%0, %1, %2, %3 = par.adamw %p, %g, %m, %v scalars %a, %b, %c, %d, %a, %b, %c, %d {decay} : ($X, $x, "
     "$X, "
     "$X, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, "
     "tensor<f32>) -> ($X, $X, $X, tensor<$lx69xbf16>)",
     "%0, %1, %2, %3 : $X, $X, $X, tensor<$lx69xbf16>"},
    {"sgd", "%p: $X, %g: $x, %a: tensor<f32>, %b: tensor<f32>",
     "%0, %1 = par.sgd %p, %g scalars %a, %b, %a {decay} : ($X, $x, tensor<f32>, tensor<f32>, tensor<f32>) "
     "-> "
     "($X, tensor<$lx69xbf16>)",
     "%0, %1 : $X, tensor<$lx69xbf16>"},
    // Attention, where rows lie by themselves and as parts of longer ones.
    {"attention",
     "%q: tensor<$nx5x2x3x9x$t>, %k: tensor<$nx5x2x9x$t>, %v: tensor<$nx5x2x9x$t>, %p: tensor<5xi32>",
     "%0, %1 = par.attention %q, %k, %v positions %p, %p {causal, scale = 0.3 : f64} : "
     "(tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x9x$t>, tensor<$nx5x2x9x$t>, tensor<5xi32>, tensor<5xi32>) -> "
     "(tensor<$nx5x2x3x9x$t>, tensor<$nx2x3x5xf32>)",
     "%0, %1 : tensor<$nx5x2x3x9x$t>, tensor<$nx2x3x5xf32>"},
    {"attention_backward",
     "%d: tensor<$nx5x2x3x9x$t>, %q: tensor<$nx5x2x3x9x$t>, %k: tensor<$nx5x2x9x$t>, %v: "
     "tensor<$nx5x2x9x$t>, "
     "%p: tensor<5xi32>",
     "%o, %l = par.attention %q, %k, %v positions %p, %p {causal, scale = 0.3 : f64} : "
     "(tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x9x$t>, tensor<$nx5x2x9x$t>, tensor<5xi32>, tensor<5xi32>) -> "
     "(tensor<$nx5x2x3x9x$t>, tensor<$nx2x3x5xf32>)\n"
     "%0, %1, %2 = par.attention_backward %d, %q, %k, %v, %o, %l positions %p, %p {causal, scale = 0.3 : "
     "f64} : "
     "(tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x9x$t>, tensor<$nx5x2x9x$t>, "
     "tensor<$nx5x2x3x9x$t>, tensor<$nx2x3x5xf32>, tensor<5xi32>, tensor<5xi32>) -> "
     "(tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x9x$t>, tensor<$nx5x2x9x$t>)",
     "%0, %1, %2 : tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x9x$t>, tensor<$nx5x2x9x$t>"},
    {"attention_of_slices", "%x: tensor<$nx5x48x$t>, %d: tensor<$nx5x2x1x8x$t>, %p: tensor<5xi32>",
     "%sq = par.slice %x from [0, 0, 0] : tensor<$nx5x48x$t> -> tensor<$nx5x16x$t>\n"
     "%sk = par.slice %x from [0, 0, 16] : tensor<$nx5x48x$t> -> tensor<$nx5x16x$t>\n"
     "%sv = par.slice %x from [0, 0, 32] : tensor<$nx5x48x$t> -> tensor<$nx5x16x$t>\n"
     "%q = par.reshape %sq : tensor<$nx5x16x$t> -> tensor<$nx5x2x1x8x$t>\n"
     "%k = par.reshape %sk : tensor<$nx5x16x$t> -> tensor<$nx5x2x8x$t>\n"
     "%v = par.reshape %sv : tensor<$nx5x16x$t> -> tensor<$nx5x2x8x$t>\n"
     "%o, %l = par.attention %q, %k, %v positions %p, %p {causal, scale = 0.3 : f64} : "
     "(tensor<$nx5x2x1x8x$t>, tensor<$nx5x2x8x$t>, tensor<$nx5x2x8x$t>, tensor<5xi32>, tensor<5xi32>) -> "
     "(tensor<$nx5x2x1x8x$t>, tensor<$nx2x1x5xf32>)\n"
     "%0, %1, %2 = par.attention_backward %d, %q, %k, %v, %o, %l positions %p, %p {causal, scale = 0.3 : "
     "f64} : "
     "(tensor<$nx5x2x1x8x$t>, tensor<$nx5x2x1x8x$t>, tensor<$nx5x2x8x$t>, tensor<$nx5x2x8x$t>, "
     "tensor<$nx5x2x1x8x$t>, tensor<$nx2x1x5xf32>, tensor<5xi32>, tensor<5xi32>) -> "
     "(tensor<$nx5x2x1x8x$t>, tensor<$nx5x2x8x$t>, tensor<$nx5x2x8x$t>)\n"
     "%rq = par.reshape %0 : tensor<$nx5x2x1x8x$t> -> tensor<$nx5x16x$t>\n"
     "%rk = par.reshape %1 : tensor<$nx5x2x8x$t> -> tensor<$nx5x16x$t>\n"
     "%rv = par.reshape %2 : tensor<$nx5x2x8x$t> -> tensor<$nx5x16x$t>\n"
     "%all = par.concat %rq, %rk, %rv dim 2 : (tensor<$nx5x16x$t>, tensor<$nx5x16x$t>, tensor<$nx5x16x$t>) "
     "-> "
     "tensor<$nx5x48x$t>",
     "%o, %l, %all : tensor<$nx5x2x1x8x$t>, tensor<$nx2x1x5xf32>, tensor<$nx5x48x$t>"},
    {"attention_with_dropout",
     "%d: tensor<$nx5x2x3x9x$t>, %q: tensor<$nx5x2x3x9x$t>, %k: tensor<$nx5x2x9x$t>, %p: tensor<5xi32>, "
     "%key: tensor<2xi32>, %c: tensor<i32>, %f: tensor<5xi32>",
     "%o, %l = par.attention %q, %k, %k positions %p, %p dropout %key site %c row %c offsets %f {dropout = "
     "0.3 : "
     "f64, scale = 0.3 : f64, strides = array<i64: 0, 30, 15, 5, 1>} : "
     "(tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x9x$t>, tensor<$nx5x2x9x$t>, tensor<5xi32>, tensor<5xi32>, "
     "tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>) -> (tensor<$nx5x2x3x9x$t>, "
     "tensor<$nx2x3x5xf32>)\n"
     "%0, %1, %2 = par.attention_backward %d, %q, %k, %k, %o, %l positions %p, %p dropout %key site %c row "
     "%c "
     "offsets %f {dropout = 0.3 : f64, scale = 0.3 : f64, strides = array<i64: 0, 30, 15, 5, 1>} : "
     "(tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x9x$t>, tensor<$nx5x2x9x$t>, "
     "tensor<$nx5x2x3x9x$t>, tensor<$nx2x3x5xf32>, tensor<5xi32>, tensor<5xi32>, tensor<2xi32>, tensor<i32>, "
     "tensor<i32>, tensor<5xi32>) -> (tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x9x$t>, tensor<$nx5x2x9x$t>)",
     "%0, %1, %2 : tensor<$nx5x2x3x9x$t>, tensor<$nx5x2x9x$t>, tensor<$nx5x2x9x$t>"},
    // Positions.
    {"rotary_tables", "%p: tensor<$nxi32>",
     "%0, %1 = par.rotary_tables %p {frequencies = array<f64: 1.0, 0.3, 0.1, 0.03, 0.01>} : (tensor<$nxi32>) "
     "-> "
     "(tensor<$nx5xf32>, tensor<$nx5xf32>)",
     "%0, %1 : tensor<$nx5xf32>, tensor<$nx5xf32>"},
    {"rotary", "%x: tensor<$nx7x2x10x$t>, %p: tensor<7xi32>, %c: tensor<7x5xf32>",
     "%0 = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.3, 0.1, 0.03, 0.01>} : (tensor<$nx7x2x10x$t>, "
     "tensor<7xi32>) -> tensor<$nx7x2x10x$t>\n"
     "%1 = par.rotate %x, %c, %c {transposed} : (tensor<$nx7x2x10x$t>, tensor<7x5xf32>, tensor<7x5xf32>) -> "
     "tensor<$nx7x2x10x$t>",
     "%0, %1 : tensor<$nx7x2x10x$t>, tensor<$nx7x2x10x$t>"},
    {"rotary_part", "%x: tensor<$nx7x2x11x$t>, %p: tensor<$nx7xi32>, %c: tensor<$nx7x2xf32>",
     "%0 = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.3, 0.1, 0.03>, factor = 1.25} : "
     "(tensor<$nx7x2x11x$t>, "
     "tensor<$nx7xi32>) -> tensor<$nx7x2x11x$t>\n"
     "%1 = par.rotate %x, %c, %c : (tensor<$nx7x2x11x$t>, tensor<$nx7x2xf32>, tensor<$nx7x2xf32>) -> "
     "tensor<$nx7x2x11x$t>",
     "%0, %1 : tensor<$nx7x2x11x$t>, tensor<$nx7x2x11x$t>"},
    // Tables.
    {"embedding", "%i: $i, %w: tensor<6x69x$t>, %o: tensor<i32>",
     "%0 = par.embedding %i, %w : ($i, tensor<6x69x$t>) -> $x\n"
     "%1 = par.embedding %i, %w offset %o : ($i, tensor<6x69x$t>, tensor<i32>) -> $x\n"
     "%2 = arith.addf %0, %1 : $x",
     "%0, %2 : $x, $x"},
    {"embedding_backward", "%i: $i, %d: $x, %a: tensor<6x69xf32>",
     "%0 = par.embedding_backward %i, %d : ($i, $x) -> tensor<6x69xf32>\n"
     "%1 = arith.addf %a, %0 : tensor<6x69xf32>",
     "%0, %1 : tensor<6x69xf32>, tensor<6x69xf32>"},
    // Rows of one dimension and of several, and numbers.
    {"take_rows", "%i: $i, %w: tensor<6x3x23x$t>, %v: tensor<6x$t>, %o: tensor<i32>",
     "%0 = par.take_rows %i, %w : ($i, tensor<6x3x23x$t>) -> tensor<$lx3x23x$t>\n"
     "%1 = par.take_rows %i, %v offset %o : ($i, tensor<6x$t>, tensor<i32>) -> tensor<$lx$t>\n"
     "%2 = par.take_rows %o, %w : (tensor<i32>, tensor<6x3x23x$t>) -> tensor<3x23x$t>",
     "%0, %1, %2 : tensor<$lx3x23x$t>, tensor<$lx$t>, tensor<3x23x$t>"},
    {"add_rows", "%i: $i, %d: tensor<$lx3x23x$t>, %s: tensor<$lx$t>, %o: tensor<i32>, %a: tensor<6x3x23xf32>",
     "%0 = par.add_rows %i, %d : ($i, tensor<$lx3x23x$t>) -> tensor<6x3x23xf32>\n"
     "%1 = arith.addf %a, %0 : tensor<6x3x23xf32>\n"
     "%2 = par.add_rows %i, %s offset %o : ($i, tensor<$lx$t>, tensor<i32>) -> tensor<6xf32>\n"
     "%3 = par.add_rows %o, %a : (tensor<i32>, tensor<6x3x23xf32>) -> tensor<6x6x3x23xf32>",
     "%1, %2, %3 : tensor<6x3x23xf32>, tensor<6xf32>, tensor<6x6x3x23xf32>"},
    // Sums.
    {"sums", "%x: tensor<$nx9x69x$t>",
     "%0 = par.reduce sum %x dims [0] : tensor<$nx9x69x$t> -> tensor<9x69xf32>\n"
     "%1 = par.reduce sum %x dims [0, 1] : tensor<$nx9x69x$t> -> tensor<69xf32>\n"
     "%2 = par.reduce sum %x dims [2] : tensor<$nx9x69x$t> -> tensor<$nx9xf32>\n"
     "%3 = par.reduce sum %x dims [0, 1, 2] : tensor<$nx9x69x$t> -> tensor<f32>",
     "%0, %1, %2, %3 : tensor<9x69xf32>, tensor<69xf32>, tensor<$nx9xf32>, tensor<f32>"},
    {"extremes", "%x: tensor<$nx9x69x$t>",
     "%0 = par.reduce max %x dims [1] : tensor<$nx9x69x$t> -> tensor<$nx69x$t>\n"
     "%1 = par.reduce min %x dims [1, 2] : tensor<$nx9x69x$t> -> tensor<$nx$t>",
     "%0, %1 : tensor<$nx69x$t>, tensor<$nx$t>"},
    {"sums_of_many_columns", "%x: tensor<$nx1500x$t>, %a: tensor<1500xf32>",
     "%0 = par.reduce sum %x dims [0] : tensor<$nx1500x$t> -> tensor<1500xf32>\n"
     "%1 = arith.addf %a, %0 : tensor<1500xf32>",
     "%1 : tensor<1500xf32>"},
    // Products.
    {"products", "%x: tensor<$nx9x$t>, %w: tensor<9x11x$t>, %v: tensor<9x11x$t>, %a: tensor<$nx11xf32>",
     "%0 = par.einsum \"ik,kj->ij\"(%x, %w) : (tensor<$nx9x$t>, tensor<9x11x$t>) -> tensor<$nx11xf32>\n"
     "%1 = par.einsum \"ik,kj->ij\"(%x, %v) : (tensor<$nx9x$t>, tensor<9x11x$t>) -> tensor<$nx11xf32>\n"
     "%2 = arith.addf %0, %a : tensor<$nx11xf32>\n%3 = arith.addf %1, %2 : tensor<$nx11xf32>",
     "%0, %1, %3 : tensor<$nx11xf32>, tensor<$nx11xf32>, tensor<$nx11xf32>"},
    {"batched_products", "%x: tensor<$nx4x9x$t>, %w: tensor<$nx9x5x$t>",
     "%0 = par.einsum \"bik,bkj->bij\"(%x, %w) : (tensor<$nx4x9x$t>, tensor<$nx9x5x$t>) -> "
     "tensor<$nx4x5x$t>\n"
     "%1 = par.einsum \"bik,bkj->bji\"(%x, %w) : (tensor<$nx4x9x$t>, tensor<$nx9x5x$t>) -> tensor<$nx5x4x$t>",
     "%0, %1 : tensor<$nx4x5x$t>, tensor<$nx5x4x$t>"},
    {"product_with_gelu",
     "%x: tensor<$nx16x$t>, %w: tensor<24x16x$t>, %b: tensor<24x$t>, %d: tensor<$nx24x$t>",
     "%0 = par.einsum \"ik,jk->ij\"(%x, %w) : (tensor<$nx16x$t>, tensor<24x16x$t>) -> tensor<$nx24x$t>\n"
     "%1 = par.expand %b dims [0] : tensor<24x$t> -> tensor<$nx24x$t>\n"
     "%2 = arith.addf %0, %1 : tensor<$nx24x$t>\n%3 = math.tanh %2 : tensor<$nx24x$t>\n"
     "%4 = par.reduce sum %d dims [0] : tensor<$nx24x$t> -> tensor<24xf32>\n"
     "%5 = par.einsum \"ij,ik->jk\"(%d, %x) : (tensor<$nx24x$t>, tensor<$nx16x$t>) -> tensor<24x16xf32>",
     "%2, %3, %4, %5 : tensor<$nx24x$t>, tensor<$nx24x$t>, tensor<24xf32>, tensor<24x16xf32>"},
    {"dots", "%z: tensor<$nx5x$t>",
     "%0 = par.einsum \"ab,ab->\"(%z, %z) : (tensor<$nx5x$t>, tensor<$nx5x$t>) -> tensor<f32>\n"
     "%1 = par.einsum \"ab->ba\"(%z) : (tensor<$nx5x$t>) -> tensor<5x$nx$t>",
     "%0, %1 : tensor<f32>, tensor<5x$nx$t>"},
    // What only moves.
    {"moves", "%x: tensor<$nx4x6x$t>",
     "%0 = par.transpose %x [2, 0, 1] : tensor<$nx4x6x$t> -> tensor<6x$nx4x$t>\n"
     "%1 = par.slice %x from [0, 1, 2] : tensor<$nx4x6x$t> -> tensor<$nx2x3x$t>\n"
     "%2 = par.pad %x at [1, 0, 2] : tensor<$nx4x6x$t> -> tensor<5x4x9x$t>\n"
     "%3 = par.reshape %x : tensor<$nx4x6x$t> -> tensor<$nx24x$t>",
     "%0, %1, %2, %3 : tensor<6x$nx4x$t>, tensor<$nx2x3x$t>, tensor<5x4x9x$t>, tensor<$nx24x$t>"},
    {"concatenations", "%x: tensor<$nx4x6x$t>, %y: tensor<$nx4x3x$t>",
     "%a = arith.mulf %x, %x : tensor<$nx4x6x$t>\n%b = arith.negf %y : tensor<$nx4x3x$t>\n"
     "%c = arith.addf %x, %x : tensor<$nx4x6x$t>\n"
     "%0 = par.concat %a, %b, %c dim 2 : (tensor<$nx4x6x$t>, tensor<$nx4x3x$t>, tensor<$nx4x6x$t>) -> "
     "tensor<$nx4x15x$t>\n"
     "%1 = par.concat %x, %a dim 0 : (tensor<$nx4x6x$t>, tensor<$nx4x6x$t>) -> tensor<$mx4x6x$t>",
     "%a, %0, %1 : tensor<$nx4x6x$t>, tensor<$nx4x15x$t>, tensor<$mx4x6x$t>"},
    {"ranks", "%x: tensor<$nx4x$t>",
     "%0 = par.all_slice over [\"tp\"] dim 1 %x : tensor<$nx4x$t> -> tensor<$nx2x$t>\n"
     "%1 = par.axis_index \"tp\" : tensor<i32>\n%2 = par.expand %1 dims [0] : tensor<i32> -> tensor<$nxi32>\n"
     "%3 = par.iota dim 0 : tensor<$nxi32>\n%4 = arith.addi %2, %3 : tensor<$nxi32>",
     "%0, %1, %4 : tensor<$nx2x$t>, tensor<i32>, tensor<$nxi32>"},
    {"dropout", "%x: tensor<$nx7x69x$t>, %k: tensor<2xi32>, %c: tensor<i32>, %o: tensor<3xi32>",
     "%0 = par.dropout %x key %k site %c row %c offsets %o {p = 0.3, strides = array<i64: 0, 69, 1>} : "
     "(tensor<$nx7x69x$t>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<3xi32>) -> tensor<$nx7x69x$t>\n"
     "%1 = arith.addf %0, %x : tensor<$nx7x69x$t>",
     "%0, %1 : tensor<$nx7x69x$t>, tensor<$nx7x69x$t>"},
    // Elementwise.
    {"arithmetic", "%x: $x, %y: $x",
     "%0 = arith.addf %x, %y : $x\n%1 = arith.subf %0, %x : $x\n%2 = arith.mulf %1, %x : $x\n"
     "%p = math.exp %y : $x\n%3 = arith.divf %2, %p : $x\n%4 = arith.negf %3 : $x",
     "%0, %2, %4 : $x, $x, $x"},
    {"choices", "%x: $x, %y: $x",
     "%0 = arith.maximumf %x, %y : $x\n%1 = arith.minimumf %0, %y : $x\n"
     "%2 = arith.cmpf olt, %x, %y : $x\n%3 = arith.select %2, %0, %1 : tensor<$lx69xi1>, $x",
     "%0, %2, %3 : $x, tensor<$lx69xi1>, $x"},
    {"powers", "%x: $x, %y: $x {test.positive}",
     "%0 = math.expm1 %x : $x\n%1 = math.log1p %y : $x\n%2 = math.exp %x : $x\n%3 = math.log %2 : $x\n"
     "%4 = math.sqrt %y : $x\n%5 = math.rsqrt %2 : $x\n%6 = math.powf %2, %x : $x\n"
     "%7 = arith.addf %0, %3 : $x\n%8 = arith.addf %1, %4 : $x\n%9 = arith.addf %5, %8 : $x",
     "%7, %9, %6 : $x, $x, $x"},
    {"curves", "%x: $x",
     "%0 = math.tanh %x : $x\n%1 = math.erf %x : $x\n%2 = math.sin %x : $x\n%3 = math.cos %x : $x\n"
     "%4 = math.absf %x : $x\n%5 = math.floor %x : $x\n%6 = par.sigmoid %x : $x\n"
     "%7 = arith.mulf %0, %1 : $x\n%8 = arith.mulf %2, %3 : $x\n%9 = arith.addf %4, %6 : $x\n"
     "%10 = arith.addf %7, %8 : $x\n%11 = arith.addf %5, %9 : $x",
     "%10, %11 : $x, $x"},
    {"constants", "%x: $x, %y: tensor<$nx3xf32>",
     "%0 = arith.constant dense<[1.0, -2.0, 3.5]> : tensor<3xf32>\n"
     "%1 = par.expand %0 dims [0] : tensor<3xf32> -> tensor<$nx3xf32>\n%2 = arith.addf %y, %1 : "
     "tensor<$nx3xf32>",
     "%0, %2 : tensor<3xf32>, tensor<$nx3xf32>"},
    {"integers", "%i: $i, %j: $i",
     "%one = arith.constant dense<1> : $i\n%d = arith.addi %j, %one : $i\n%0 = arith.subi %i, %j : $i\n"
     "%1 = arith.muli %0, %d : $i\n%2 = arith.divsi %1, %d : $i\n%3 = arith.remsi %i, %d : $i\n"
     "%4 = arith.maxsi %2, %3 : $i\n%5 = arith.minsi %i, %4 : $i",
     "%3, %5 : $i, $i"},
    {"bits", "%i: $i, %j: $i",
     "%0 = arith.andi %i, %j : $i\n%1 = arith.ori %i, %j : $i\n%2 = arith.xori %0, %1 : $i\n"
     "%3 = arith.cmpi slt, %i, %j : $i",
     "%2, %3 : $i, tensor<$lxi1>"},
    {"conversions", "%i: $i, %x: $X",
     "%0 = arith.sitofp %i : $i to $s\n%1 = arith.uitofp %i : $i to $s\n%2 = arith.extsi %i : $i to "
     "tensor<$lxi64>\n"
     "%3 = arith.extui %i : $i to tensor<$lxi64>\n%4 = arith.addi %2, %3 : tensor<$lxi64>\n"
     "%5 = arith.trunci %4 : tensor<$lxi64> to $i\n%6 = arith.addf %0, %1 : $s",
     "%5, %6, %4 : $i, $s, tensor<$lxi64>"},
    {"widths", "%x: $X",
     "%0 = arith.truncf %x : $X to tensor<$lx69xbf16>\n%1 = arith.extf %0 : tensor<$lx69xbf16> to $X\n"
     "%2 = arith.fptosi %x : $X to tensor<$lx69xi32>",
     "%0, %1, %2 : tensor<$lx69xbf16>, $X, tensor<$lx69xi32>"},
};

ArrayRef<KernelGraph> par::getKernelGraphs() { return kGraphs; }

ArrayRef<StringRef> par::getOpsWithoutKernels() {
  static constexpr StringRef ops[] = {"par.constrain", "par.reshard", "par.transfer"};
  return ops;
}

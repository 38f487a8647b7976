// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-form-epilogues,par-form-kernels),par-to-rank)" | FileCheck %s
// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-form-epilogues,par-form-kernels),par-print-buffer-assignment)" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BUFFERS
// RUN: sed 's/target = "cuda", chip = "sm_90"/target = "cpu"/' %s | par-opt -pass-pipeline="builtin.module(func.func(par-form-epilogues,par-form-kernels),par-to-rank)" | FileCheck %s --check-prefix=CPU

// A CPU's program is as without: product, bias and sum are of bf16.
// CPU-LABEL: rank.func @bias(
// CPU: rank.gemm
// CPU-SAME: to = bf16,
// CPU: par.einsum {{.*}} -> tensor<4x16xbf16>
// CPU: rank.kernel
// CPU: arith.addf {{.*}} : tensor<4x16xbf16>
// CPU-NOT: epilogue

// What cuBLASLt computes behind a product is one call with it. What it means stays its region.
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
par.variable @x : tensor<4x16xbf16> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @y : tensor<4x16xf32> dims ["a", "b"] {role = #par.role<step>}
par.variable @w : tensor<16x16xbf16> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @v : tensor<16x16xf32> dims ["a", "b"] {role = #par.role<step>}
par.variable @b : tensor<16xbf16> dims ["a"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @c : tensor<16xf32> dims ["a"] {role = #par.role<step>}
par.variable @s : tensor<f32> dims [] {role = #par.role<step>}

// Product and bias are added in f32 and rounded once.
// CHECK-LABEL: rank.func @bias(
// CHECK-NEXT: rank.alloc
// CHECK-NEXT: rank.gemm
// CHECK-SAME: from = bf16, to = bf16,
// CHECK-SAME: epilogue = bias, vector = 2>]
// CHECK: par.einsum {{.*}} -> tensor<4x16xf32>
// CHECK: arith.addf {{.*}} : tensor<4x16xf32>
// CHECK: %[[ROUNDED:.*]] = arith.truncf
// CHECK-NEXT: rank.yield %[[ROUNDED]]
// CHECK-NOT: rank.kernel
// CHECK: rank.return
func.func private @bias(%x: tensor<4x16xbf16>, %w: tensor<16x16xbf16>, %b: tensor<16xbf16>) -> (tensor<4x16xbf16>) {
  %p = par.einsum "ik,jk->ij"(%x, %w) : (tensor<4x16xbf16>, tensor<16x16xbf16>) -> tensor<4x16xbf16>
  %e = par.expand %b dims [0] : tensor<16xbf16> -> tensor<4x16xbf16>
  %s = arith.addf %p, %e : tensor<4x16xbf16>
  return %s : tensor<4x16xbf16>
}

// GELU is of the sum before that is rounded for others. Neither lies over the other.
// CHECK-LABEL: rank.func @gelu(
// CHECK-SAME: %[[AUX:[a-z0-9]+]]: !rank.buffer<128>, %[[GELU:[a-z0-9]+]]: !rank.buffer<128>)
// CHECK: rank.gemm ins({{.*}}) outs({{.*}}%[[AUX]]{{.*}}) scratch
// CHECK-SAME: to = bf16,
// CHECK-SAME: epilogue = bias_gelu_aux, vector = 2, aux = [[#]]>]
// CHECK-NOT: rank.kernel
// CHECK: rank.return
// BUFFERS: remark: %{{.*}} writes result 0
func.func private @gelu(%x: tensor<4x16xbf16>, %w: tensor<16x16xbf16>, %b: tensor<16xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>) {
  %p = par.einsum "ik,jk->ij"(%x, %w) : (tensor<4x16xbf16>, tensor<16x16xbf16>) -> tensor<4x16xbf16>
  %e = par.expand %b dims [0] : tensor<16xbf16> -> tensor<4x16xbf16>
  %s = arith.addf %e, %p : tensor<4x16xbf16>
  %f = arith.extf %s : tensor<4x16xbf16> to tensor<4x16xf32>
  %ax2 = arith.mulf %f, %f : tensor<4x16xf32>
  %ax3 = arith.mulf %ax2, %f : tensor<4x16xf32>
  %ac = arith.constant dense<4.471500e-02> : tensor<4x16xf32>
  %a0 = arith.mulf %ax3, %ac : tensor<4x16xf32>
  %a1 = arith.addf %f, %a0 : tensor<4x16xf32>
  %as = arith.constant dense<0.797884583> : tensor<4x16xf32>
  %a2 = arith.mulf %a1, %as : tensor<4x16xf32>
  %at = math.tanh %a2 : tensor<4x16xf32>
  %ah = arith.constant dense<5.000000e-01> : tensor<4x16xf32>
  %a3 = arith.mulf %f, %ah : tensor<4x16xf32>
  %ai = arith.constant dense<1.000000e+00> : tensor<4x16xf32>
  %a4 = arith.addf %at, %ai : tensor<4x16xf32>
  %g = arith.mulf %a3, %a4 : tensor<4x16xf32>
  %o = arith.truncf %g : tensor<4x16xf32> to tensor<4x16xbf16>
  return %s, %o : tensor<4x16xbf16>, tensor<4x16xbf16>
}

// In f32 nothing is rounded. Where nobody else needs what GELU is of, it is not written.
// CHECK-LABEL: rank.func @gelu_only(
// CHECK: rank.gemm
// CHECK-SAME: from = f32, to = f32,
// CHECK-SAME: epilogue = bias_gelu, vector = 2>]
// CHECK-NOT: rank.kernel
// CHECK: rank.return
func.func private @gelu_only(%x: tensor<4x16xf32>, %w: tensor<16x16xf32>, %b: tensor<16xf32>) -> (tensor<4x16xf32>) {
  %p = par.einsum "ik,jk->ij"(%x, %w) : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %e = par.expand %b dims [0] : tensor<16xf32> -> tensor<4x16xf32>
  %s = arith.addf %p, %e : tensor<4x16xf32>
  %ax2 = arith.mulf %s, %s : tensor<4x16xf32>
  %ax3 = arith.mulf %ax2, %s : tensor<4x16xf32>
  %ac = arith.constant dense<4.471500e-02> : tensor<4x16xf32>
  %a0 = arith.mulf %ax3, %ac : tensor<4x16xf32>
  %a1 = arith.addf %s, %a0 : tensor<4x16xf32>
  %as = arith.constant dense<0.797884583> : tensor<4x16xf32>
  %a2 = arith.mulf %a1, %as : tensor<4x16xf32>
  %at = math.tanh %a2 : tensor<4x16xf32>
  %ah = arith.constant dense<5.000000e-01> : tensor<4x16xf32>
  %a3 = arith.mulf %s, %ah : tensor<4x16xf32>
  %ai = arith.constant dense<1.000000e+00> : tensor<4x16xf32>
  %a4 = arith.addf %at, %ai : tensor<4x16xf32>
  %g = arith.mulf %a3, %a4 : tensor<4x16xf32>
  return %g : tensor<4x16xf32>
}

// The gradient of GELU, however its ops stand, and GELU again for others, a kernel with ops of its own.
// CHECK-LABEL: rank.func @gradient(
// CHECK-DAG: rank.gemm {{.*}}to = bf16, {{.*}}epilogue = gelu_gradient, aux = 2>]
// CHECK-DAG: rank.kernel
// CHECK: rank.return
func.func private @gradient(%d: tensor<4x16xbf16>, %w: tensor<16x16xbf16>, %x: tensor<4x16xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>) {
  %p = par.einsum "ik,jk->ij"(%d, %w) : (tensor<4x16xbf16>, tensor<16x16xbf16>) -> tensor<4x16xf32>
  %f = arith.extf %x : tensor<4x16xbf16> to tensor<4x16xf32>
  %ax2 = arith.mulf %f, %f : tensor<4x16xf32>
  %ax3 = arith.mulf %ax2, %f : tensor<4x16xf32>
  %ac = arith.constant dense<4.471500e-02> : tensor<4x16xf32>
  %a0 = arith.mulf %ax3, %ac : tensor<4x16xf32>
  %a1 = arith.addf %f, %a0 : tensor<4x16xf32>
  %as = arith.constant dense<0.797884583> : tensor<4x16xf32>
  %a2 = arith.mulf %a1, %as : tensor<4x16xf32>
  %at = math.tanh %a2 : tensor<4x16xf32>
  %ah = arith.constant dense<5.000000e-01> : tensor<4x16xf32>
  %a3 = arith.mulf %f, %ah : tensor<4x16xf32>
  %ai = arith.constant dense<1.000000e+00> : tensor<4x16xf32>
  %a4 = arith.addf %at, %ai : tensor<4x16xf32>
  %g = arith.mulf %a3, %a4 : tensor<4x16xf32>
  %a5 = arith.mulf %p, %a4 : tensor<4x16xf32>
  %a6 = arith.mulf %p, %a3 : tensor<4x16xf32>
  %a7 = arith.mulf %a5, %ah : tensor<4x16xf32>
  %a8 = arith.mulf %at, %at : tensor<4x16xf32>
  %a9 = arith.subf %ai, %a8 : tensor<4x16xf32>
  %a10 = arith.mulf %a6, %a9 : tensor<4x16xf32>
  %a11 = arith.mulf %a10, %as : tensor<4x16xf32>
  %a12 = arith.addf %a7, %a11 : tensor<4x16xf32>
  %a13 = arith.mulf %a11, %ac : tensor<4x16xf32>
  %a14 = arith.constant dense<3.000000e+00> : tensor<4x16xf32>
  %a15 = arith.mulf %a13, %a14 : tensor<4x16xf32>
  %a16 = arith.mulf %a15, %ax2 : tensor<4x16xf32>
  %a17 = arith.addf %a12, %a16 : tensor<4x16xf32>
  %o = arith.truncf %g : tensor<4x16xf32> to tensor<4x16xbf16>
  %q = arith.truncf %a17 : tensor<4x16xf32> to tensor<4x16xbf16>
  return %o, %q : tensor<4x16xbf16>, tensor<4x16xbf16>
}

// A gradient is not written over what GELU was of, though nobody needs that any more.
// BUFFERS: %x = par.einsum "ik,jk->ij"(%y, %w)
// BUFFERS: remark: %{{[0-9]*}}: fresh
// BUFFERS-NEXT: %q = arith.truncf
func.func private @over(%d: tensor<4x16xbf16>, %w: tensor<16x16xbf16>, %y: tensor<4x16xbf16>) -> (tensor<4x16xbf16>) {
  %x = par.einsum "ik,jk->ij"(%y, %w) : (tensor<4x16xbf16>, tensor<16x16xbf16>) -> tensor<4x16xbf16>
  %p = par.einsum "ik,jk->ij"(%d, %w) : (tensor<4x16xbf16>, tensor<16x16xbf16>) -> tensor<4x16xf32>
  %f = arith.extf %x : tensor<4x16xbf16> to tensor<4x16xf32>
  %ax2 = arith.mulf %f, %f : tensor<4x16xf32>
  %ax3 = arith.mulf %ax2, %f : tensor<4x16xf32>
  %ac = arith.constant dense<4.471500e-02> : tensor<4x16xf32>
  %a0 = arith.mulf %ax3, %ac : tensor<4x16xf32>
  %a1 = arith.addf %f, %a0 : tensor<4x16xf32>
  %as = arith.constant dense<0.797884583> : tensor<4x16xf32>
  %a2 = arith.mulf %a1, %as : tensor<4x16xf32>
  %at = math.tanh %a2 : tensor<4x16xf32>
  %ah = arith.constant dense<5.000000e-01> : tensor<4x16xf32>
  %a3 = arith.mulf %f, %ah : tensor<4x16xf32>
  %ai = arith.constant dense<1.000000e+00> : tensor<4x16xf32>
  %a4 = arith.addf %at, %ai : tensor<4x16xf32>
  %g = arith.mulf %a3, %a4 : tensor<4x16xf32>
  %a5 = arith.mulf %p, %a4 : tensor<4x16xf32>
  %a6 = arith.mulf %p, %a3 : tensor<4x16xf32>
  %a7 = arith.mulf %a5, %ah : tensor<4x16xf32>
  %a8 = arith.mulf %at, %at : tensor<4x16xf32>
  %a9 = arith.subf %ai, %a8 : tensor<4x16xf32>
  %a10 = arith.mulf %a6, %a9 : tensor<4x16xf32>
  %a11 = arith.mulf %a10, %as : tensor<4x16xf32>
  %a12 = arith.addf %a7, %a11 : tensor<4x16xf32>
  %a13 = arith.mulf %a11, %ac : tensor<4x16xf32>
  %a14 = arith.constant dense<3.000000e+00> : tensor<4x16xf32>
  %a15 = arith.mulf %a13, %a14 : tensor<4x16xf32>
  %a16 = arith.mulf %a15, %ax2 : tensor<4x16xf32>
  %a17 = arith.addf %a12, %a16 : tensor<4x16xf32>
  %q = arith.truncf %a17 : tensor<4x16xf32> to tensor<4x16xbf16>
  %r = par.einsum "ik,kj->ij"(%q, %w) : (tensor<4x16xbf16>, tensor<16x16xbf16>) -> tensor<4x16xbf16>
  return %r : tensor<4x16xbf16>
}

// The bias's gradient beside the weight's: sums over k of the operand that both are of. Adding it to its accumulator is a small kernel.
// CHECK-LABEL: rank.func @weight(
// CHECK: rank.gemm
// CHECK-SAME: beta = 1, addend = [[#]], scale = [[#]], epilogue = sums_a, vector = [[#]]>]
// CHECK: rank.kernel
// CHECK: rank.return
func.func private @weight(%d: tensor<4x16xbf16>, %x: tensor<4x16xbf16>, %s: tensor<f32>, %v: tensor<16x16xf32>, %c: tensor<16xf32>) -> (tensor<16x16xf32>, tensor<16xf32>) {
  %p = par.einsum "ik,ij->kj"(%d, %x) : (tensor<4x16xbf16>, tensor<4x16xbf16>) -> tensor<16x16xf32>
  %e = par.expand %s dims [0, 1] : tensor<f32> -> tensor<16x16xf32>
  %m = arith.mulf %e, %v : tensor<16x16xf32>
  %n = arith.addf %m, %p : tensor<16x16xf32>
  %r = par.reduce sum %d dims [0] : tensor<4x16xbf16> -> tensor<16xf32>
  %f = par.expand %s dims [0] : tensor<f32> -> tensor<16xf32>
  %g = arith.mulf %f, %c : tensor<16xf32>
  %h = arith.addf %g, %r : tensor<16xf32>
  return %n, %h : tensor<16x16xf32>, tensor<16xf32>
}

// The same of the other operand, in f32.
// CHECK-LABEL: rank.func @weight_of_b(
// CHECK: rank.gemm
// CHECK-SAME: epilogue = sums_b, vector = 1>]
// CHECK-NOT: rank.kernel
// CHECK: rank.return
func.func private @weight_of_b(%d: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> (tensor<16x16xf32>, tensor<16xf32>) {
  %p = par.einsum "ik,ij->kj"(%x, %d) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
  %r = par.reduce sum %d dims [0] : tensor<4x16xf32> -> tensor<16xf32>
  return %p, %r : tensor<16x16xf32>, tensor<16xf32>
}

func.func @forward(%x: tensor<4x16xbf16> {par.place = #par.place<variable @x>}, %y: tensor<4x16xf32> {par.place = #par.place<variable @y>}, %w: tensor<16x16xbf16> {par.place = #par.place<variable @w>}, %v: tensor<16x16xf32> {par.place = #par.place<variable @v>}, %b: tensor<16xbf16> {par.place = #par.place<variable @b>}, %c: tensor<16xf32> {par.place = #par.place<variable @c>}, %s: tensor<f32> {par.place = #par.place<variable @s>})
    -> (tensor<4x16xbf16> {par.place = #par.place<residual 0>}, tensor<4x16xbf16> {par.place = #par.place<residual 1>}, tensor<4x16xbf16> {par.place = #par.place<residual 2>}, tensor<4x16xf32> {par.place = #par.place<residual 3>}, tensor<4x16xbf16> {par.place = #par.place<residual 4>}, tensor<4x16xbf16> {par.place = #par.place<residual 5>}, tensor<4x16xbf16> {par.place = #par.place<residual 6>}, tensor<16x16xf32> {par.place = #par.place<residual 7>}, tensor<16xf32> {par.place = #par.place<residual 8>}, tensor<16x16xf32> {par.place = #par.place<residual 9>}, tensor<16xf32> {par.place = #par.place<residual 10>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %r0:1 = par.call @bias(%x, %w, %b) : (tensor<4x16xbf16>, tensor<16x16xbf16>, tensor<16xbf16>) -> (tensor<4x16xbf16>)
  %r1:2 = par.call @gelu(%x, %w, %b) : (tensor<4x16xbf16>, tensor<16x16xbf16>, tensor<16xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>)
  %r2:1 = par.call @gelu_only(%y, %v, %c) : (tensor<4x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> (tensor<4x16xf32>)
  %r3:2 = par.call @gradient(%x, %w, %x) : (tensor<4x16xbf16>, tensor<16x16xbf16>, tensor<4x16xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>)
  %r4:1 = par.call @over(%x, %w, %x) : (tensor<4x16xbf16>, tensor<16x16xbf16>, tensor<4x16xbf16>) -> (tensor<4x16xbf16>)
  %r5:2 = par.call @weight(%x, %x, %s, %v, %c) : (tensor<4x16xbf16>, tensor<4x16xbf16>, tensor<f32>, tensor<16x16xf32>, tensor<16xf32>) -> (tensor<16x16xf32>, tensor<16xf32>)
  %r6:2 = par.call @weight_of_b(%y, %y) : (tensor<4x16xf32>, tensor<4x16xf32>) -> (tensor<16x16xf32>, tensor<16xf32>)
  return %r0#0, %r1#0, %r1#1, %r2#0, %r3#0, %r3#1, %r4#0, %r5#0, %r5#1, %r6#0, %r6#1 : tensor<4x16xbf16>, tensor<4x16xbf16>, tensor<4x16xbf16>, tensor<4x16xf32>, tensor<4x16xbf16>, tensor<4x16xbf16>, tensor<4x16xbf16>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>
}
func.func @backward(%r0: tensor<4x16xbf16> {par.place = #par.place<residual 0>}, %r1: tensor<4x16xbf16> {par.place = #par.place<residual 1>}, %r2: tensor<4x16xbf16> {par.place = #par.place<residual 2>}, %r3: tensor<4x16xf32> {par.place = #par.place<residual 3>}, %r4: tensor<4x16xbf16> {par.place = #par.place<residual 4>}, %r5: tensor<4x16xbf16> {par.place = #par.place<residual 5>}, %r6: tensor<4x16xbf16> {par.place = #par.place<residual 6>}, %r7: tensor<16x16xf32> {par.place = #par.place<residual 7>}, %r8: tensor<16xf32> {par.place = #par.place<residual 8>}, %r9: tensor<16x16xf32> {par.place = #par.place<residual 9>}, %r10: tensor<16xf32> {par.place = #par.place<residual 10>}) attributes {par.phase = #par.phase<backward, chunk = 0>} { return }
func.func @reduce() attributes {par.phase = #par.phase<reduce, chunk = 0>} { return }
func.func @update() attributes {par.phase = #par.phase<update, chunk = 0>} { return }
}

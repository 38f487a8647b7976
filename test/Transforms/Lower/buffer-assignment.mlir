// RUN: par-opt %s -pass-pipeline='builtin.module(func.func(par-form-kernels),par-print-buffer-assignment)' -split-input-file -verify-diagnostics -o /dev/null

// What the caller gets is written where the caller wants it; what is read later through a view has memory of its own.
func.func @own(%a: tensor<4x4xf32>) -> tensor<2x8xf32> {
  // expected-remark @below {{%0: fresh}}
  %h = par.einsum "ik,jk->ij"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%1: view of %0}}
  %v = par.reshape %h : tensor<4x4xf32> -> tensor<2x8xf32>
  // expected-remark @below {{%2: fresh}}
  %s = math.tanh %h : tensor<4x4xf32>
  // expected-remark @below {{%3: view of %2}}
  %w = par.reshape %s : tensor<4x4xf32> -> tensor<2x8xf32>
  // expected-remark @below {{%4: fresh}}
  %g = par.einsum "ik,jk->ij"(%w, %v) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x2xf32>
  // expected-remark @below {{%5: writes result 0}}
  %r = par.einsum "ij,jk->ik"(%g, %v) : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// -----

// An element at a time over what nobody reads any more; a norm writes before it has read its row.
func.func @over(%a: tensor<4x4xf32>, %w: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // expected-remark @below {{%0: fresh}}
  %h = par.einsum "ik,jk->ij"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%1: reuses %0}}
  %s = math.tanh %h : tensor<4x4xf32>
  // expected-remark @below {{%2: writes result 0}}
  %p = par.einsum "ik,jk->ij"(%s, %s) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%3: fresh}}
  %i = par.einsum "ik,jk->ij"(%a, %p) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%result: fresh}}
  %n, %d = par.rms_norm %i, %w {eps = 1.0e-6} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  // expected-remark @below {{%4: writes result 1}}
  %q = par.einsum "ik,jk->ij"(%n, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p, %q : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A sum of products lies in the result from its first term on, or in memory of its own.
func.func @sums(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // expected-remark @below {{%0: writes result 0}}
  %0 = par.einsum "ik,kj->ij"(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = par.einsum "ik,kj->ij"(%b, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%2: adds into %0}}
  %s = arith.addf %0, %1 : tensor<4x4xf32>
  // expected-remark @below {{%3: fresh}}
  %2 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = par.einsum "ik,jk->ij"(%b, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%5: adds into %3}}
  %t = arith.addf %2, %3 : tensor<4x4xf32>
  // expected-remark @below {{%6: writes result 1}}
  %r = par.einsum "ik,jk->ij"(%t, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %s, %r : tensor<4x4xf32>, tensor<4x4xf32>
}

// A product is added to what others read beside it.
func.func @read(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-remark @below {{%0: fresh}}
  %0 = par.einsum "ik,kj->ij"(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = par.einsum "ik,kj->ij"(%b, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%2: fresh}}
  %s = arith.addf %0, %1 : tensor<4x4xf32>
  // expected-remark @below {{%3: writes result 0}}
  %r = par.einsum "ik,kj->ij"(%s, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// A result that overwrites an argument is written where nobody reads that later, else beside it.
func.func @alias(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %late: tensor<4x4xf32>)
    -> (tensor<4x4xf32> {par.place = #par.place<alias 0>}, tensor<4x4xf32> {par.place = #par.place<alias 2>}, tensor<4x4xf32>) {
  %0 = par.einsum "ik,kj->ij"(%b, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%1: writes result 0}}
  %sum = arith.addf %a, %0 : tensor<4x4xf32>
  // expected-remark @below {{%2: fresh}}
  %other = arith.addf %late, %b : tensor<4x4xf32>
  // expected-remark @below {{%3: writes result 2}}
  %product = par.einsum "ik,kj->ij"(%other, %late) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %sum, %other, %product : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// A call overwrites what it alone reads; what is read later is copied for it.
func.func @calls(%b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-remark @below {{%0: fresh}}
  %h = math.tanh %b : tensor<4x4xf32>
  // expected-remark @below {{%1: fresh}}
  %i = math.exp %b : tensor<4x4xf32>
  // expected-remark @below {{%2#0: reuses %0}}
  // expected-remark @below {{%2#1: fresh}}
  // expected-remark @below {{%2#2: fresh}}
  %0, %1, %2 = par.call @alias(%h, %c, %i) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  // expected-remark @below {{%3: fresh}}
  %p = par.einsum "ik,kj->ij"(%0, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%4: fresh}}
  %q = par.einsum "ik,kj->ij"(%p, %2) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%5: writes result 0}}
  %r = par.einsum "ik,kj->ij"(%q, %i) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// A sum over ranks is in place, a gather is not; what is started is read and written up to its wait.
par.mesh @mesh <["dp"=2]>
func.func @collectives(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>) {
  // expected-remark @below {{%0: writes result 0}}
  %h = par.einsum "ik,jk->ij"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%1: reuses %0}}
  %s = par.all_reduce sum over ["dp"] %h : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%2: fresh}}
  %t = par.einsum "ik,kj->ij"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{%3: writes result 1}}
  %g = par.all_gather over ["dp"] dim 0 %t {par.started} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  // expected-remark @below {{%4: fresh}}
  %e = math.exp %t : tensor<4x4xf32>
  // expected-remark @below {{%5: view of %3}}
  %w = par.wait %g : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark @below {{%6: writes result 2}}
  %r = par.einsum "ik,jk->ij"(%e, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %s, %w, %r : tensor<4x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>
}

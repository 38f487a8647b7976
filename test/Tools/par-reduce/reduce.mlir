// RUN: par-reduce %s -par-simplify-ops=test=%S/Inputs/has-einsum.sh | FileCheck %s --implicit-check-not=math. --implicit-check-not=rms_norm --implicit-check-not=softmax --implicit-check-not=@unused
// RUN: par-reduce %s -opt-reduction-pass='opt-pass=symbol-dce test=%S/Inputs/has-einsum.sh' | FileCheck %s --check-prefix=DCE
// RUN: not par-reduce %s -par-simplify-ops=test=%S/Inputs/never.sh 2>&1 | FileCheck %s --check-prefix=NEVER

// What is left is what the test script asks for: the product, without all that stands before and after it, and without the other function.
// CHECK-LABEL: func.func @big(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x4xf32>)
// CHECK-NEXT: %[[X:.*]] = arith.constant dense<0.0
// CHECK-NEXT: %[[Y:.*]] = par.einsum "be,me->bm"(%[[X]], %[[W]])
// CHECK-NEXT: return %[[Y]]

// MLIR's own passes, with par's: a function that nothing calls goes.
// DCE-NOT: @unused
// DCE: math.tanh
// DCE: par.einsum "be,me->bm"

// NEVER: error: par-simplify-ops: {{.*}}never.sh does not find the input interesting; it has to exit with 1 on it
func.func private @unused(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}
func.func @big(%x: tensor<2x4xf32>, %scale: tensor<4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %0 = math.tanh %x : tensor<2x4xf32>
  %1, %inverse = par.rms_norm %0, %scale {eps = 1.0e-5} : (tensor<2x4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
  %2 = arith.addf %1, %x : tensor<2x4xf32>
  %3 = par.einsum "be,me->bm"(%2, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %4 = math.exp %3 : tensor<2x4xf32>
  %5 = par.softmax %4 {dim = 1} : tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}

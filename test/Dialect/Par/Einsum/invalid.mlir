// RUN: par-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @einsum_c1_groups(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{einsum_c1: equation "ab,bc->ac" must be letters(,letters)*->letters with one group per operand (1)}}
  %0 = par.einsum "ab,bc->ac"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @einsum_c1_arrow(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{einsum_c1: equation "ab" must be letters(,letters)*->letters}}
  %0 = par.einsum "ab"(%x) : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @einsum_c1_letter(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{einsum_c1: '1' in "a1->a" is not a letter}}
  %0 = par.einsum "a1->a"(%x) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @einsum_c2_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{einsum_c2: operand 0 has rank 2 but letters "abc"}}
  %0 = par.einsum "abc->a"(%x) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @einsum_c2_result(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{einsum_c2: the result has rank 2 but letters "a"}}
  %0 = par.einsum "ab->a"(%x) : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @einsum_c2_twice(%x: tensor<2x2xf32>) {
  // expected-error @+1 {{einsum_c2: letter 'a' appears twice in operand 0}}
  %0 = par.einsum "aa->a"(%x) : (tensor<2x2xf32>) -> tensor<2xf32>
  return
}

// -----

// Both violations are shown.
func.func @einsum_c3(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+2 {{einsum_c3: letter 'b' has size 3 and, in operand 1, 4}}
  // expected-error @+1 {{einsum_c3: letter 'a' has size 2 and, in the result, 7}}
  %0 = par.einsum "ab,bc->ac"(%x, %y) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @einsum_c4(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{einsum_c4: letter 'c' of the result is in no operand}}
  %0 = par.einsum "ab->ac"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @einsum_c5(%x: tensor<2x3xf32>, %y: tensor<3xbf16>) {
  // expected-error @+1 {{einsum_c5: operand 1 has elements of type 'bf16', operand 0 of type 'f32'; they must be equal}}
  %0 = par.einsum "ab,b->a"(%x, %y) : (tensor<2x3xf32>, tensor<3xbf16>) -> tensor<2xf32>
  return
}

// RUN: par-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @collective_c1_mesh(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{collective_c1: the module has no par.mesh}}
  %0 = par.all_reduce sum over ["dp"] %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @collective_c1_axes(%x: tensor<8x4xf32>) {
  // expected-error @+2 {{collective_c1: axis "pp" is not one of the mesh}}
  // expected-error @+1 {{collective_c1: axis "dp" is listed twice}}
  %0 = par.all_reduce sum over ["pp", "dp", "dp"] %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @collective_c1_none(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{collective_c1: needs at least one mesh axis}}
  %0 = par.all_reduce sum over [] %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @collective_c2_number(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{collective_c2: 1 operands and 2 results}}
  %0:2 = par.all_reduce sum over ["dp"] %x : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @collective_c2_type(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{collective_c2: tensor 0 goes from element type 'f32' to 'bf16'}}
  %0 = par.all_gather over ["dp"] dim 0 %x : (tensor<8x4xf32>) -> tensor<16x4xbf16>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @all_reduce_c1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{all_reduce_c1: result 0 is 'tensor<4x8xf32>', expected 'tensor<8x4xf32>' for 2 members}}
  %0 = par.all_reduce sum over ["dp"] %x : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @reduce_scatter_c1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{reduce_scatter_c1: dimension 0 of size 8 is not a multiple of the 3 members}}
  %0 = par.reduce_scatter over ["tp"] dim 0 %x : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @reduce_scatter_c1_dim(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{reduce_scatter_c1: dimension 2 does not exist in a tensor of rank 2}}
  %0 = par.reduce_scatter over ["dp"] dim 2 %x : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @all_gather_c1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{all_gather_c1: result 0 is 'tensor<8x8xf32>', expected 'tensor<16x4xf32>' for 2 members}}
  %0 = par.all_gather over ["dp"] dim 0 %x : (tensor<8x4xf32>) -> tensor<8x8xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @all_gather_c1_count(%x: tensor<9223372036854775807xf32>) {
  // expected-error @+1 {{all_gather_c1: dimension 0 of 2 members together cannot be counted}}
  %0 = par.all_gather over ["dp"] dim 0 %x : (tensor<9223372036854775807xf32>) -> tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{mesh has more than 2147483647 ranks}}
par.mesh @mesh <["dp"=65536, "tp"=65536]>

// -----

// expected-error @+1 {{mesh has more than 2147483647 ranks}}
par.mesh @mesh <["dp"=9223372036854775807, "tp"=3]>

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @all_to_all_c1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{all_to_all_c1: result 0 is 'tensor<4x4xf32>', expected 'tensor<4x8xf32>'}}
  %0 = par.all_to_all over ["dp"] split 0 concat 1 %x : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @permute_c1(%x: tensor<8x4xf32>) {
  // expected-error @+3 {{permute_c1: 4 entries for a group of 3}}
  // expected-error @+2 {{permute_c1: member 1 receives twice}}
  // expected-error @+1 {{permute_c1: entry 3 is neither -1 nor a member}}
  %0 = par.permute over ["tp"] to [1, 1, 3, 0] %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @permute_c2(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{permute_c2: result 0 is}}
  %0 = par.permute over ["dp"] to [1, 0] %x : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @collective_broadcast_c1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{collective_broadcast_c1: root 2 is not a member of the group of 2}}
  %0 = par.collective_broadcast over ["dp"] root 2 %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @collective_broadcast_c2(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{collective_broadcast_c2: result 0 is}}
  %0 = par.collective_broadcast over ["dp"] root 1 %x : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @reduce_to_c1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{reduce_to_c1: root -1 is not a member}}
  %0 = par.reduce_to over ["dp"] root -1 %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @reduce_to_c2(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{reduce_to_c2: result 0 is}}
  %0 = par.reduce_to over ["dp"] root 1 %x : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @gather_c1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{gather_c1: root 5 is not a member}}
  %0 = par.gather over ["dp"] dim 0 root 5 %x : (tensor<8x4xf32>) -> tensor<16x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @gather_c2(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{gather_c2: result 0 is}}
  %0 = par.gather over ["dp"] dim 0 root 0 %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @scatter_c1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{scatter_c1: root 5 is not a member}}
  %0 = par.scatter over ["dp"] dim 0 root 5 %x : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @scatter_c2(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{scatter_c2: result 0 is}}
  %0 = par.scatter over ["dp"] dim 0 root 0 %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2, "tp"=3]>
func.func @all_slice_c1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{all_slice_c1: result 0 is 'tensor<8x4xf32>', expected 'tensor<4x4xf32>'}}
  %0 = par.all_slice over ["dp"] dim 0 %x : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @collective_c3_unused(%x: tensor<8xf32>) {
  // expected-error @+1 {{collective_c3: is started, so its results must be the operands of one par.wait of its block, in order, and of nothing else}}
  %0 = par.all_reduce sum over ["dp"] %x {par.started} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @collective_c3_used_before(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{collective_c3: is started}}
  %0 = par.all_reduce sum over ["dp"] %x {par.started} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = math.tanh %0 : tensor<8xf32>
  %2 = par.wait %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @collective_c3_twice(%x: tensor<8xf32>) {
  // expected-error @+1 {{collective_c3: is started}}
  %0 = par.all_reduce sum over ["dp"] %x {par.started} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = par.wait %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = par.wait %0 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @collective_c3_part(%x: tensor<8xf32>) {
  // expected-error @+1 {{collective_c3: is started}}
  %0:2 = par.all_reduce sum over ["dp"] %x, %x {par.started} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1 = par.wait %0#1 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @wait_c1(%x: tensor<8xf32>) {
  %0 = par.all_reduce sum over ["dp"] %x : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{wait_c1: the operands must be all results of one collective or transfer with par.started, in order}}
  %1 = par.wait %0 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @wait_c2(%x: tensor<8xf32>) {
  %0 = par.all_reduce sum over ["dp"] %x {par.started} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{wait_c2: results have the types ('tensor<4xf32>'), expected those of the operands, ('tensor<8xf32>')}}
  %1 = par.wait %0 : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @transfer_c1(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{transfer_c1: is started, so its result must be the operand of one par.wait of its block and of nothing else}}
  %0 = par.transfer %x to <host> {par.started} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// RUN: par-opt %s --par-verify-overlapped -split-input-file -verify-diagnostics

par.mesh @mesh <["dp"=2]>
func.func @global(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{par-verify-overlapped: started in a function that is not partitioned; par-partition comes before par-overlap-collectives}}
  %0 = par.all_reduce sum over ["dp"] %x {par.started} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = math.tanh %x : tensor<8xf32>
  %2 = par.wait %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @alone(%x: tensor<8xf32>) -> tensor<8xf32> attributes {par.local} {
  // expected-error @+1 {{par-verify-overlapped: started, but nothing is computed before its wait; par-overlap-collectives should have left it blocking}}
  %0 = par.all_reduce sum over ["dp"] %x {par.started} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-note @+1 {{the wait}}
  %1 = par.wait %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// RUN: par-opt %s -par-offload-state=update-on-host | FileCheck %s

// What becomes state but is made of nothing that is comes from the device, and what is made of it is made on the host.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @w>}, %[[M:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @w.master>})
// CHECK-NEXT: %[[N:.*]] = arith.addf %[[W]], %[[W]]
// CHECK-NEXT: %[[HOST:.*]] = par.transfer %[[N]] to <host>
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[HOST]]
// CHECK-NEXT: %[[BACK:.*]] = par.transfer %[[T]] to <device>
// CHECK-NEXT: return %[[BACK]], %[[HOST]]
par.variable @w : tensor<4xf32> dims ["a"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @w.master : tensor<4xf32> dims ["a"] {role = #par.role<master>, init = #par.init<zeros>, of = @w}
func.func @update(%w: tensor<4xf32> {par.place = #par.place<variable @w>}, %m: tensor<4xf32> {par.place = #par.place<variable @w.master>})
    -> (tensor<4xf32> {par.place = #par.place<variable @w>}, tensor<4xf32> {par.place = #par.place<variable @w.master>}) attributes {par.phase = #par.phase<update, chunk = 0>} {
  %n = arith.addf %w, %w : tensor<4xf32>
  %t = math.tanh %n : tensor<4xf32>
  return %t, %n : tensor<4xf32>, tensor<4xf32>
}

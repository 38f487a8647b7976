// RUN: par-opt %s -par-offload-state | FileCheck %s

// Each moment is brought just before its layer's update and sent back right after it; gradients and parameters stay.
// CHECK: par.variable @w : tensor<4xf32>
// CHECK-NOT: space
// CHECK: par.variable @w.m {{.*}}space = #par.space<host>
// CHECK: par.variable @v.m {{.*}}space = #par.space<host>
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @w>}, %[[WM:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @w.m>}, %[[VM:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @v.m>})
// CHECK-NEXT: %[[A:.*]] = par.transfer %[[WM]] to <device>
// CHECK-NEXT: %[[B:.*]]:2 = par.call @layer(%[[W]], %[[A]])
// CHECK-NEXT: %[[C:.*]] = par.transfer %[[B]]#1 to <host>
// CHECK-NEXT: %[[D:.*]] = par.transfer %[[VM]] to <device>
// CHECK-NEXT: %[[E:.*]]:2 = par.call @layer(%[[B]]#0, %[[D]])
// CHECK-NEXT: %[[F:.*]] = par.transfer %[[E]]#1 to <host>
// CHECK-NEXT: return %[[E]]#0, %[[C]], %[[F]]
par.variable @w : tensor<4xf32> dims ["a"] {role = #par.role<parameter>, init = #par.init<ones>}
par.variable @w.m : tensor<4xf32> dims ["a"] {role = #par.role<moment>, init = #par.init<zeros>, of = @w}
par.variable @v.m : tensor<4xf32> dims ["a"] {role = #par.role<moment>, init = #par.init<zeros>, of = @w}
func.func private @layer(%p: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32> {par.place = #par.place<alias 0>}, tensor<4xf32> {par.place = #par.place<alias 1>}) {
  %a = arith.addf %p, %m : tensor<4xf32>
  %b = arith.mulf %p, %m : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
func.func @update(%w: tensor<4xf32> {par.place = #par.place<variable @w>}, %m: tensor<4xf32> {par.place = #par.place<variable @w.m>}, %n: tensor<4xf32> {par.place = #par.place<variable @v.m>})
    -> (tensor<4xf32> {par.place = #par.place<variable @w>}, tensor<4xf32> {par.place = #par.place<variable @w.m>}, tensor<4xf32> {par.place = #par.place<variable @v.m>}) attributes {par.phase = #par.phase<update, chunk = 0>} {
  %0:2 = par.call @layer(%w, %m) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1:2 = par.call @layer(%0#0, %n) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %1#0, %0#1, %1#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// With the update on the host, state stays there and what else its layers need is sent: a parameter that two of them update goes there and back twice.
// RUN: par-opt %s -par-offload-state=update-on-host | FileCheck %s --check-prefix=HOST
// HOST-LABEL: func.func @update(
// HOST-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @w>}, %[[WM:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @w.m>}, %[[VM:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @v.m>})
// HOST-NEXT: %[[A:.*]] = par.transfer %[[W]] to <host>
// HOST-NEXT: %[[B:.*]]:2 = par.call @layer(%[[A]], %[[WM]])
// HOST-NEXT: %[[C:.*]] = par.transfer %[[B]]#0 to <device>
// HOST-NEXT: %[[D:.*]] = par.transfer %[[C]] to <host>
// HOST-NEXT: %[[E:.*]]:2 = par.call @layer(%[[D]], %[[VM]])
// HOST-NEXT: %[[F:.*]] = par.transfer %[[E]]#0 to <device>
// HOST-NEXT: return %[[F]], %[[B]]#1, %[[E]]#1

// With overlap the second layer's state comes while the first layer is updated, and the first one's leaves while the second is.
// RUN: par-opt %s -par-offload-state=overlap | FileCheck %s --check-prefix=OVERLAP
// OVERLAP-LABEL: func.func @update(
// OVERLAP-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @w>}, %[[WM:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @w.m>}, %[[VM:[a-z0-9]+]]: tensor<4xf32> {par.place = #par.place<variable @v.m>})
// OVERLAP-NEXT: %[[A:.*]] = par.transfer %[[WM]] to <device> {par.started}
// OVERLAP-NEXT: %[[A1:.*]] = par.wait %[[A]]
// OVERLAP-NEXT: %[[B:.*]] = par.transfer %[[VM]] to <device> {par.started}
// OVERLAP-NEXT: %[[C:.*]]:2 = par.call @layer(%[[W]], %[[A1]])
// OVERLAP-NEXT: %[[D:.*]] = par.transfer %[[C]]#1 to <host> {par.started}
// OVERLAP-NEXT: %[[B1:.*]] = par.wait %[[B]]
// OVERLAP-NEXT: %[[E:.*]]:2 = par.call @layer(%[[C]]#0, %[[B1]])
// OVERLAP-NEXT: %[[D1:.*]] = par.wait %[[D]]
// OVERLAP-NEXT: %[[F:.*]] = par.transfer %[[E]]#1 to <host> {par.started}
// OVERLAP-NEXT: %[[F1:.*]] = par.wait %[[F]]
// OVERLAP-NEXT: return %[[E]]#0, %[[D1]], %[[F1]]

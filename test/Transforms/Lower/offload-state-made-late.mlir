// RUN: par-opt %s -par-offload-state="update-on-host overlap" | FileCheck %s

// What the second update needs is made behind the first one: it cannot be sent before that.
// CHECK-LABEL: func.func @update(
// CHECK: %[[A:.*]] = arith.addf %{{.*}}, %{{.*}}
// CHECK-NEXT: %[[B:.*]] = par.transfer %[[A]] to <host> {par.started}
// CHECK-NEXT: %[[C:.*]] = par.wait %[[B]]
// CHECK-NEXT: arith.addf %{{.*}}, %[[C]]
// CHECK-NEXT: %[[D:.*]] = arith.addf %{{.*}}, %{{.*}}
// CHECK-NEXT: %[[E:.*]] = par.transfer %[[D]] to <host> {par.started}
// CHECK-NEXT: %[[F:.*]] = par.wait %[[E]]
// CHECK-NEXT: arith.addf %{{.*}}, %[[F]]
par.variable @v : tensor<4xf32> dims ["a"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @v.m : tensor<4xf32> dims ["a"] {role = #par.role<moment>, init = #par.init<zeros>, of = @v}
par.variable @w : tensor<4xf32> dims ["a"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @w.m : tensor<4xf32> dims ["a"] {role = #par.role<moment>, init = #par.init<zeros>, of = @w}
func.func @update(%v: tensor<4xf32> {par.place = #par.place<variable @v>}, %vm: tensor<4xf32> {par.place = #par.place<variable @v.m>},
                  %w: tensor<4xf32> {par.place = #par.place<variable @w>}, %wm: tensor<4xf32> {par.place = #par.place<variable @w.m>})
    -> (tensor<4xf32> {par.place = #par.place<variable @v.m>}, tensor<4xf32> {par.place = #par.place<variable @w.m>}) attributes {par.phase = #par.phase<update, chunk = 0>} {
  %a = arith.addf %v, %v : tensor<4xf32>
  %vn = arith.addf %vm, %a : tensor<4xf32>
  %b = arith.addf %w, %w : tensor<4xf32>
  %wn = arith.addf %wm, %b : tensor<4xf32>
  return %vn, %wn : tensor<4xf32>, tensor<4xf32>
}

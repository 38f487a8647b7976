// A plan's target that is not built is refused by whoever needs to know it.
// RUN: par-opt %s -split-input-file -rank-plan-memory -verify-diagnostics -o /dev/null
// RUN: not par-opt %s -par-select-residuals -o /dev/null 2>&1 | FileCheck %s
// RUN: not par-opt %s -par-split-large-values -o /dev/null 2>&1 | FileCheck %s
// RUN: not par-opt %s -rank-verify-program -o /dev/null 2>&1 | FileCheck %s
// RUN: not par-opt %s -rank-to-llvm -o /dev/null 2>&1 | FileCheck %s
// CHECK: error: the plan's target cuda is not built, expected cpu

// expected-error @+1 {{the plan's target cuda is not built, expected cpu}}
module attributes {par.plan = #par.plan<target = "cuda">} {}

//===- ParPlan.td - the plan that a module is compiled by ---------------------------------------------------===//
#ifndef PAR_PLAN
#define PAR_PLAN

include "par/Dialect/Par/IR/ParDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Par_PlanAttr : AttrDef<Par_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "the plan that a module is compiled by";
  let description = [{
    `par.plan` of a module. Its fields are those of `plan.json` (docs/Package.md); what has its default is not printed.
    `after` is the last phase that the module went through.

    Example: `#par.plan<after = "annotate", seq = 64, batch = 16, zero = 3, mesh = ["dp" = 2, "tp" = 2]>`

    Made by par-compile, which writes it anew after every phase, and by hand where a graph is annotated by hand;
    the manifest is printed from it.

    **Constraints:**
    - (plan_c1) `version` is 1, `zero` is from 0 to 3, `micro_batches`, `chunks` and the sizes of `mesh` are at least 1.
    - (plan_c2) No field is given twice.
  }];
  let parameters = (ins AttrParameter<"::mlir::par::Plan", "all decisions", "const ::mlir::par::Plan &">:$plan,
                        AttrParameter<"::mlir::par::CompilePhase", "the last phase that was run">:$after);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // PAR_PLAN

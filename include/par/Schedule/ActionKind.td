//===- ActionKind.td - kinds of actions -----------------------------------------------------------------------===//
#ifndef PAR_ACTION_KIND
#define PAR_ACTION_KIND

include "par/Schedule/ActionCases.td"

def Par_ActionKind : I32EnumAttr<"ActionKind", "what an action of a step does",
    !listconcat(Par_PhaseCases, Par_MessageCases, Par_SumCases)> {
  let cppNamespace = "::mlir::par";
  let genSpecializedAttr = 0;
}

#endif // PAR_ACTION_KIND

//===- ActionCases.td - what a step does ----------------------------------------------------------------------===//
// The one list: `#par.phase` takes the part that runs chunk functions, ActionKind.td all of it. So an action and the
// phase of the function that it runs have one number and one name.
#ifndef PAR_ACTION_CASES
#define PAR_ACTION_CASES

include "mlir/IR/EnumAttr.td"

class Case<string symbol, int value, string str> : I32EnumAttrCase<symbol, value, str>;

defvar Par_PhaseCases = [
  Case<"Gather", 0, "gather">, // parameters that are stored in parts, once per step
  Case<"Forward", 1, "forward">,
  // Gradients of a chunk's input and of its weights. Schedules that split it have the gradients of the input, and
  // those of the weights any time later.
  Case<"Backward", 2, "backward">, Case<"BackwardInput", 3, "backward_input">,
  Case<"BackwardWeight", 4, "backward_weight">,
  Case<"BackwardLast", 5, "backward_last">, // backward of a chunk's last micro-batch and reduce in one
  Case<"Reduce", 6, "reduce">,              // gradients over the ranks that share a chunk
  Case<"Norm", 7, "norm">, Case<"Update", 8, "update">,
  // Programs without a backward pass.
  Case<"Eval", 9, "eval">, Case<"Logits", 10, "logits">];

// Between stages go a chunk's results and their gradients.
defvar Par_MessageCases = [
  Case<"SendActivation", 11, "send_activation">, Case<"ReceiveActivation", 12, "receive_activation">,
  Case<"SendGradient", 13, "send_gradient">, Case<"ReceiveGradient", 14, "receive_gradient">];

#endif // PAR_ACTION_CASES

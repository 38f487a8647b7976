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
  // The last one of a chunk in its stage's list, and reduce, in one.
  Case<"BackwardLast", 5, "backward_last">, Case<"BackwardWeightLast", 6, "backward_weight_last">,
  Case<"Reduce", 7, "reduce">, // gradients over the ranks that share a chunk
  Case<"Norm", 8, "norm">, Case<"Update", 9, "update">,
  // Programs without a backward pass.
  Case<"Eval", 10, "eval">, Case<"Logits", 11, "logits">];

// Between stages go a chunk's results and their gradients: a message begins at both ends and is waited for at both.
defvar Par_MessageCases = [
  Case<"SendActivation", 12, "send_activation">, Case<"SentActivation", 13, "sent_activation">,
  Case<"ReceiveActivation", 14, "receive_activation">, Case<"ReceivedActivation", 15, "received_activation">,
  Case<"SendGradient", 16, "send_gradient">, Case<"SentGradient", 17, "sent_gradient">,
  Case<"ReceiveGradient", 18, "receive_gradient">, Case<"ReceivedGradient", 19, "received_gradient">];

// What several stages add up: gradients of parameters that they share, and squares of all gradients.
defvar Par_SumCases = [
  Case<"SumGradients", 20, "sum_gradients">, Case<"SumSquares", 21, "sum_squares">];

#endif // PAR_ACTION_CASES

//===- SoftmaxOps.td - softmax over the last dimension ------------------------------------------------------===//
#ifndef PAR_SOFTMAX_OPS
#define PAR_SOFTMAX_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_SoftmaxOp : Par_GraphOp<"softmax", [SameOperandsAndResultType,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>], [], ["decompose"]> {
  let summary = "y = exp(x − max x) / Σ exp(x − max x) over the last dimension";
  let description = [{
    ```mlir
    %y = par.softmax %x : tensor<8x128xf32>
    ```
    The last dimension needs replication. **Constraints:** (softmax_c1) rank at least 1.
  }];
  let arguments = (ins Par_Float:$input);
  let results = (outs Par_Float:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

def Par_SoftmaxBackwardOp : Par_GraphOp<"softmax_backward", [SameOperandsAndResultType], [], ["decompose"]> {
  let summary = "dx = y·(dy − Σ dy·y)";
  let description = [{
    ```mlir
    %dx = par.softmax_backward %dy, %y : tensor<8x128xf32>
    ```
    Linear in `dy`. **Constraints:** (softmax_backward_c1) rank at least 1.
  }];
  let arguments = (ins Par_Float:$dy, Par_Float:$output);
  let results = (outs Par_Float:$dx);
  let assemblyFormat = "$dy `,` $output attr-dict `:` type($dx)";
}

#endif // PAR_SOFTMAX_OPS

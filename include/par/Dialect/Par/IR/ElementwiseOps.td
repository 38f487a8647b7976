//===- ElementwiseOps.td - elementwise maths that arith and math lack ---------------------------------------===//
#ifndef PAR_ELEMENTWISE_OPS
#define PAR_ELEMENTWISE_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_SigmoidOp : Par_GraphOp<"sigmoid", [SameOperandsAndResultType,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>], [], ["decompose"],
    ["getFlops"]> {
  let summary = "y = 1 / (1 + exp(−x))";
  let description = [{
    ```mlir
    %y = par.sigmoid %x : tensor<8x128xf32>
    ```
    An op because of its derivative, dy·y·(1 − y), which is finite for every x. That of the quotient is not: where
    exp(−x) overflows (x < −88.7 in f32) it is 0·∞.
  }];
  let arguments = (ins Par_Float:$input);
  let results = (outs Par_Float:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

#endif // PAR_ELEMENTWISE_OPS

//===- ParBase.td - what all families of ops share ----------------------------------------------------------===//
#ifndef PAR_BASE
#define PAR_BASE

include "par/Dialect/Par/IR/ParAttributes.td"
include "par/Interfaces/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

/// All tensors are ranked and of static shape.
def Par_Tensor : StaticShapeTensorOf<[AnyType]>;
def Par_Float : StaticShapeTensorOf<[F32, F64, BF16, F16]>;
def Par_F32 : StaticShapeTensorOf<[F32, F64]>;
def Par_Int : StaticShapeTensorOf<[I32, I64]>;
/// Scalars that change from step to step are tensors of rank 0.
def Par_ScalarF32 : 0DTensorOf<[F32, F64]>;
def Par_ScalarI32 : 0DTensorOf<[I32]>;

class Par_Op<string mnemonic, list<Trait> traits = []> : Op<Par_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}

/// An op of the graph: pure, with a rule, a meaning and a way to become code.
/// `rule`, `kernel` and `cost` name the methods with defaults that an op writes itself.
class Par_GraphOp<string mnemonic, list<Trait> traits = [], list<string> rule = [], list<string> kernel = [],
                  list<string> cost = []>
    : Par_Op<mnemonic, !listconcat(traits, [
        Pure,
        DeclareOpInterfaceMethods<ShardingRuleOpInterface, rule>,
        DeclareOpInterfaceMethods<InterpretableOpInterface>,
        DeclareOpInterfaceMethods<KernelOpInterface, kernel>,
        DeclareOpInterfaceMethods<CostOpInterface, cost>])>;

#endif // PAR_BASE

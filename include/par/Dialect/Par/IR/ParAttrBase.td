//===- ParAttrBase.td - classes of par's attributes and enums -----------------------------------------------===//
#ifndef PAR_ATTR_BASE
#define PAR_ATTR_BASE

include "par/Dialect/Par/IR/ParDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "par/Schedule/ActionCases.td"

class Par_Attr<string name, string attrMnemonic> : AttrDef<Par_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class Par_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::par";
  let genSpecializedAttr = 0;
}
class Par_EnumAttr<I32EnumAttr info, string attrMnemonic> : EnumAttr<Par_Dialect, info, attrMnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // PAR_ATTR_BASE

//===- GenericKernel.cpp - any kernel, with a part for each thread of a grid ----------------------===//
#include "../Kernels/KernelWriter.h"
#include "CudaTarget.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "par/Conversion/RuntimeRecords.h"

using namespace mlir;
using namespace mlir::par;

/// Threads of a block.
static constexpr int32_t kBlock = 128;
/// Most blocks of a grid: threads take several elements of what is larger.
static constexpr int64_t kMostBlocks = 1 << 16;

/// A part has few elements, whose sums stay in registers.
static constexpr Sharing kGeneric{/*enoughRows=*/INT64_MAX, /*roomColumns=*/1, /*sharesElements=*/true,
                                  /*isStrided=*/true};
/// The widest access that there is.
static constexpr int64_t kAccessBytes = 16;

/// True if buffers lie at multiples of an access: all do but those that are a part of another one (rank.call
/// with parts).
static bool areAligned(Operation *op) {
  bool aligned = true;
  op->getParentOfType<ModuleOp>().walk([&](rank::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<rank::FuncOp>(call, call.getCalleeAttr());
    for (unsigned number = 0; call.getParts() > 1 && number < call.getBuffers().size(); ++number)
      aligned &= call.getStride(number, callee) % kAccessBytes == 0;
  });
  return aligned;
}

namespace {
/// Writes the kernel that calls a part's function.
class EntryWriter {
public:
  EntryWriter(OpBuilder &builder, PartKernel part)
      : builder(builder), part(part), loc(part.function.getLoc()),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())),
        usesCoords(!part.function.getArgument(0).use_empty()) {}

  /// `launch` is what the manifest says of it.
  func::FuncOp write(StringRef name) {
    SmallVector<Type> types(part.function.getArgumentTypes().drop_front(3));
    if (usesCoords)
      types.push_back(pointer);
    auto function = builder.create<func::FuncOp>(loc, name, builder.getFunctionType(types, {}));
    function->setAttr("launch", describeLaunch());
    if (part.isElementwise)
      setAlignment(function);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(function.addEntryBlock());
    Value thread = number<NVVM::ThreadIdXOp>(), block = number<NVVM::BlockIdXOp>(),
          threads = number<NVVM::BlockDimXOp>(), blocks = number<NVVM::GridDimXOp>();
    Value first = builder.create<arith::MulIOp>(loc, block, threads);
    SmallVector<Value> arguments{getContext(function), builder.create<arith::AddIOp>(loc, first, thread),
                                 builder.create<arith::MulIOp>(loc, blocks, threads)};
    llvm::append_range(arguments, function.getArguments().take_front(part.function.getNumArguments() - 3));
    builder.create<func::CallOp>(loc, part.function, arguments);
    builder.create<func::ReturnOp>(loc);
    return function;
  }

private:
  void setAlignment(func::FuncOp function) {
    for (unsigned number = 0; number < part.function.getNumArguments() - 3; ++number)
      function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(kAccessBytes));
  }

  DictionaryAttr describeLaunch() {
    int64_t blocks = std::min((part.mostParts + kBlock - 1) / kBlock, kMostBlocks);
    auto named = [&](StringRef name, Attribute value) { return builder.getNamedAttr(name, value); };
    return builder.getDictionaryAttr(
        {named("plan", builder.getStringAttr(part.isElementwise ? "elementwise" : "generic")),
         named("grid", builder.getDenseI64ArrayAttr({blocks, 1, 1})),
         named("block", builder.getDenseI64ArrayAttr({kBlock, 1, 1})),
         named("shared_bytes", builder.getI64IntegerAttr(0)),
         named("coords", builder.getBoolAttr(usesCoords)),
         named("updates", builder.getDenseI64ArrayAttr(part.updates))});
  }

  template <typename Register>
  Value number() {
    Value narrow = builder.create<Register>(loc, builder.getI32Type());
    return builder.create<arith::IndexCastUIOp>(loc, builder.getIndexType(), narrow);
  }

  /// A record with the coordinates, of which nothing is left once the part is inlined.
  Value getContext(func::FuncOp function) {
    if (!usesCoords)
      return builder.create<LLVM::ZeroOp>(loc, pointer);
    using Record = RuntimeRecord<par_context>;
    auto type = Record::getType(builder.getContext());
    Value one = builder.create<LLVM::ConstantOp>(loc, builder.getI64Type(), builder.getI64IntegerAttr(1));
    Value record = builder.create<LLVM::AllocaOp>(loc, pointer, type, one);
    Value field =
        builder.create<LLVM::GEPOp>(loc, pointer, type, record, ArrayRef<LLVM::GEPArg>{0, Record::coords});
    builder.create<LLVM::StoreOp>(loc, function.getArguments().back(), field);
    return record;
  }

  OpBuilder &builder;
  PartKernel part;
  Location loc;
  Type pointer;
  bool usesCoords;
};
} // namespace

FailureOr<func::FuncOp> CudaTarget::writeKernel(OpBuilder &builder, rank::WorkOpInterface work,
                                                StringRef name, ArrayRef<StringAttr> axes) const {
  Sharing sharing = kGeneric;
  sharing.accessBytes = areAligned(work) ? kAccessBytes : 0;
  FailureOr<PartKernel> part = writePartKernel(builder, work, (name + "_part").str(), axes, sharing);
  if (failed(part))
    return failure();
  part->function->setAttr("passthrough", builder.getStrArrayAttr({"alwaysinline"}));
  part->function->setAttr("llvm.linkage",
                          LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  return EntryWriter(builder, *part).write(name);
}

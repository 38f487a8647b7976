//===- NumberedCalls.cpp - what computes, by numbers in the manifest's lists ----------------------===//
#include "WorkCalls.h"
#include "par/Dialect/Rank/IR/Epilogue.h"
#include "par/Target/LibraryCall.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace mlir::par;

namespace {
/// Entries without repetition; their numbers are those of a list in the manifest.
using List = llvm::SetVector<Attribute>;

/// An entry of a list, being made.
class Entry {
public:
  explicit Entry(Builder &builder) : builder(builder) {}

  void set(StringRef name, Attribute value) { members.append(name, value); }
  void set(StringRef name, int64_t value) { set(name, builder.getI64IntegerAttr(value)); }
  void set(StringRef name, bool value) { set(name, builder.getBoolAttr(value)); }
  void set(StringRef name, StringRef value) { set(name, builder.getStringAttr(value)); }
  void set(StringRef name, const char *value) { set(name, StringRef(value)); }
  DictionaryAttr get() { return members.getDictionary(builder.getContext()); }

private:
  Builder &builder;
  NamedAttrList members;
};

StringRef getTypeName(Type type) { return type.isBF16() ? "bf16" : "f32"; }

class NumberedCalls : public WorkCalls {
public:
  NumberedCalls(CallBuilder &calls, TargetKind target) : WorkCalls(calls, target) {
    for (LibraryList list : getLibraryLists(target))
      libraries[list.name]; // a program without entries has the list, too
  }

  void addKernels(ModuleOp kernels) override {
    OpBuilder builder = OpBuilder::atBlockBegin(calls.module.getBody());
    device = builder.create<ModuleOp>(calls.module.getLoc(), StringRef(kDeviceModule));
    device.getBody()->getOperations().splice(device.getBody()->begin(), kernels.getBody()->getOperations());
  }

  LogicalResult callKernel(rank::WorkOpInterface work, StringRef name) override {
    SmallVector<Value> operands = getOperands(work);
    forEachLaunch(operands, name, [&](ArrayRef<int64_t> numbers, Attribute entry) {
      SmallVector<Value> buffers, pointers;
      for (int64_t number : numbers)
        buffers.push_back(operands[number]);
      calls.appendBuffers(buffers, pointers);
      call("par_launch", kernels, entry, {calls.buildArray(pointers)});
    });
    return success();
  }

  LogicalResult callProducts(rank::GemmOp work, StringRef epilogue) override {
    auto product = cast<rank::ProductAttr>(work.getProducts()[0]);
    if (work.getProducts().size() != 1)
      return work.emitOpError("rank-to-llvm: ")
             << work.getProducts().size() << " joined products, expected one";
    bool isScaled = product.getBeta() != 0 && product.getScale() >= 0;
    auto beta = static_cast<double>(product.getBeta());
    if (beta != 0 && beta != 1)
      return work.emitOpError("rank-to-llvm: what is added to a product is scaled by ")
             << beta << ", expected 0, 1 or a value in memory";
    bool adds = beta != 0;
    Value c = work.getOuts()[product.getC()];
    Value addend = product.getAddend() < 0 ? c : Value(work.getIns()[product.getAddend()]);
    SmallVector<Value> buffers = {work.getIns()[product.getA()], work.getIns()[product.getB()],
                                  adds ? addend : Value(), c};
    if (product.getEpilogue() != rank::Epilogue::None)
      llvm::append_values(buffers, findVector(work, product), findAux(work, product));
    llvm::append_range(buffers, work.getScratch());
    SmallVector<Value> pointers;
    for (Value buffer : buffers)
      pointers.push_back(buffer ? calls.buffers[buffer] : Value());
    Value scale = isScaled ? calls.buffers[work.getIns()[product.getScale()]]
                           : calls.builder.create<LLVM::ZeroOp>(work->getLoc(), calls.pointer).getResult();
    call("par_product_call", products,
         describe(product,
                  isScaled ? "value"
                  : adds   ? "one"
                           : "none",
                  work.getScratch(), separate(work, epilogue, buffers)),
         {calls.buildArray(pointers), scale});
    return success();
  }

  LogicalResult callLibrary(rank::LibraryWorkInterface work, StringRef name) override {
    const LibraryCall *how = getLibraryCall(target, work);
    if (!how)
      return failure();
    auto library = getLaunch(name).getAs<DictionaryAttr>(launch::kLibrary);
    std::optional<LibraryList> list = how->getList();
    if (!library || !list)
      return callKernel(work, name);
    SmallVector<Value> operands = getOperands(work), pointers;
    SmallVector<Attribute> launches;
    forEachLaunch(operands, name, [&](ArrayRef<int64_t> numbers, Attribute entry) {
      launches.push_back(describeLaunch(entry, numbers));
    });
    NamedAttrList entry(library);
    entry.append("buffers", calls.builder.getI64IntegerAttr(static_cast<int64_t>(operands.size())));
    entry.append("launches", calls.builder.getArrayAttr(launches));
    calls.appendBuffers(operands, pointers);
    call(list->entryPoint, libraries[list->name], entry.getDictionary(work->getContext()),
         {calls.buildArray(pointers)});
    return success();
  }

  void finish() override {
    setList("kernels", kernels);
    setList("products", products);
    for (auto &[name, list] : libraries)
      setList(name, list);
  }

private:
  void setList(StringRef name, const List &list) {
    device->setAttr(("rank." + name).str(), calls.builder.getArrayAttr(list.getArrayRef()));
  }
  static SmallVector<Value> getOperands(rank::WorkOpInterface work) {
    SmallVector<Value> operands(work.getIns());
    llvm::append_range(operands, work.getOuts());
    llvm::append_range(operands, work.getScratch());
    return operands;
  }
  DictionaryAttr getLaunch(StringRef name) {
    return device.lookupSymbol<LLVM::LLVMFuncOp>(name)->getAttrOfType<DictionaryAttr>(kLaunchAttr);
  }
  /// A kernel is one launch, or several, of which each says what comes next. `numbers` are those of the
  /// operands that it is given.
  void forEachLaunch(ArrayRef<Value> operands, StringRef name,
                     function_ref<void(ArrayRef<int64_t> numbers, Attribute entry)> visit) {
    while (!name.empty()) {
      DictionaryAttr how = getLaunch(name);
      ArrayRef<int64_t> numbers = how.getAs<DenseI64ArrayAttr>(launch::kOperands).asArrayRef();
      SmallVector<Value> buffers;
      for (int64_t number : numbers)
        buffers.push_back(operands[number]);
      visit(numbers, describe(how, name, buffers));
      auto next = how.getAs<StringAttr>(launch::kNext);
      name = next ? next.getValue() : "";
    }
  }

  /// The number of an entry.
  static int64_t add(List &list, Attribute entry) {
    list.insert(entry);
    return llvm::find(list, entry) - list.begin();
  }
  void call(StringRef name, List &list, Attribute entry, ArrayRef<Value> rest) {
    int64_t number = add(list, entry);
    SmallVector<Value> arguments{calls.context, calls.i32(number)};
    llvm::append_range(arguments, rest);
    calls.call(name, arguments);
  }

  /// The launches that compute the epilogue behind the product alone, each on some of the call's buffers.
  ArrayAttr separate(rank::GemmOp work, StringRef name, ArrayRef<Value> buffers) {
    SmallVector<Attribute> launches;
    OwningOpRef<rank::KernelOp> epilogue = rank::separateEpilogue(work);
    if (!epilogue)
      return calls.builder.getArrayAttr(launches);
    SmallVector<Value> operands = getOperands(cast<rank::WorkOpInterface>(epilogue->getOperation()));
    forEachLaunch(operands, name, [&](ArrayRef<int64_t> numbers, Attribute entry) {
      SmallVector<int64_t> places;
      for (int64_t number : numbers)
        places.push_back(llvm::find(buffers, operands[number]) - buffers.begin());
      launches.push_back(describeLaunch(entry, places));
    });
    return calls.builder.getArrayAttr(launches);
  }

  /// A kernel on some of a call's buffers.
  Attribute describeLaunch(Attribute kernel, ArrayRef<int64_t> buffers) {
    Entry launch(calls.builder);
    launch.set("kernel", add(kernels, kernel));
    launch.set("buffers", calls.builder.getDenseI64ArrayAttr(buffers));
    return launch.get();
  }

  /// Null where the epilogue has none.
  Value findVector(rank::GemmOp work, rank::ProductAttr product) {
    bool isWritten =
        product.getEpilogue() == rank::Epilogue::SumsOfA || product.getEpilogue() == rank::Epilogue::SumsOfB;
    return findBuffer(work, product.getVector(), isWritten);
  }
  Value findAux(rank::GemmOp work, rank::ProductAttr product) {
    return findBuffer(work, product.getAux(), product.getEpilogue() == rank::Epilogue::BiasGeluAux);
  }
  Value findBuffer(rank::GemmOp work, int64_t number, bool isWritten) {
    return number < 0 ? Value() : Value((isWritten ? work.getOuts() : work.getIns())[number]);
  }

  /// What the target said of its function, and the buffers of this call: of a kernel's shapes, but maybe in
  /// other memories.
  DictionaryAttr describe(DictionaryAttr how, StringRef name, ArrayRef<Value> operands) {
    Entry entry(calls.builder);
    entry.set("name", name);
    for (StringRef member :
         {launch::kPlan, launch::kGrid, launch::kBlock, launch::kSharedBytes, launch::kCoords})
      entry.set(member, how.get(member));
    if (Attribute reason = how.get(launch::kReason))
      entry.set(launch::kReason, reason);
    SmallVector<Attribute> buffers;
    for (auto [buffer, access] : llvm::zip(operands, how.getAs<ArrayAttr>(launch::kAccess))) {
      Entry each(calls.builder);
      each.set("bytes", rank::getBytes(buffer));
      each.set("access", access);
      each.set("space", rank::isOnDevice(buffer) ? "device" : "host");
      buffers.push_back(each.get());
    }
    entry.set("buffers", calls.builder.getArrayAttr(buffers));
    return entry.get();
  }

  DictionaryAttr describe(rank::ProductAttr product, const char *beta, ValueRange scratch,
                          ArrayAttr separate) {
    Entry entry(calls.builder);
    std::pair<StringRef, int64_t> sizes[] = {{"m", product.getM()},     {"n", product.getN()},
                                             {"k", product.getK()},     {"batch", product.getBatch()},
                                             {"lda", product.getLda()}, {"stride_a", product.getStrideA()},
                                             {"ldb", product.getLdb()}, {"stride_b", product.getStrideB()},
                                             {"ldc", product.getLdc()}, {"stride_c", product.getStrideC()}};
    for (auto [name, size] : sizes)
      entry.set(name, size);
    entry.set("transpose_a", static_cast<bool>(product.getTransposeA()));
    entry.set("transpose_b", static_cast<bool>(product.getTransposeB()));
    entry.set("type", getTypeName(product.getFrom()));
    entry.set("result", getTypeName(product.getTo()));
    entry.set("beta", beta);
    if (product.getEpilogue() != rank::Epilogue::None) {
      entry.set("epilogue", rank::stringifyEpilogue(product.getEpilogue()));
      entry.set("separate", separate);
    }
    entry.set("workspace", scratch.empty() ? int64_t(0) : rank::getBytes(scratch.front()));
    return entry.get();
  }

  ModuleOp device;
  List kernels, products;
  std::map<StringRef, List> libraries; ///< by their names in the manifest
};
} // namespace

std::unique_ptr<WorkCalls> par::createNumberedCalls(CallBuilder &calls, TargetKind target) {
  return std::make_unique<NumberedCalls>(calls, target);
}

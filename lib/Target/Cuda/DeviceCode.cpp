//===- DeviceCode.cpp - PTX of a module of kernels ------------------------------------------------===//
#include "DeviceCode.h"
#include "Bf16Accesses.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "par/Support/MakeError.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InferAlignment.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

using namespace mlir;
using namespace mlir::par;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> par::createDeviceMachine(llvm::StringRef chip) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const std::string triple = "nvptx64-nvidia-cuda";
  std::string message;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!found)
    return makeError("this LLVM has no code generator for " + triple + ": " + message);
  // A product and a sum are rounded each, but where the module says otherwise, as the emulator does: no
  // AllowFPOpFusion.
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, chip, "+ptx81", llvm::TargetOptions(), llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// LLVM does not know that these need all lanes of a warp in one place.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (function.getName().starts_with("llvm.nvvm.mma.") ||
        function.getName().starts_with("llvm.nvvm.ldmatrix."))
      for (llvm::User *user : function.users())
        llvm::cast<llvm::CallBase>(user)->setConvergent();
}

/// Nor that assembly which has no side effects leaves memory alone: accesses around it could not be joined.
static void markPure(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      auto *text = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!text || text->hasSideEffects())
        continue;
      call->setDoesNotAccessMemory();
      call->setDoesNotThrow();
      call->addFnAttr(llvm::Attribute::WillReturn);
    }
}

/// Loads and stores side by side become one.
static void addWideAccesses(llvm::ModulePassManager &passes) {
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::InferAlignmentPass()));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::LoadStoreVectorizerPass()));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::SROAPass(llvm::SROAOptions::PreserveCFG)));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::EarlyCSEPass()));
  // What is known of addresses at first, other passes hide. They also take wide loads apart of which single
  // elements are used: the back end would join them again, here it is seen in the module that is emulated.
  addWideAccesses(passes);
  passes.addPass(builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3));
  addWideAccesses(passes);
  passes.run(module, modules);
  pairBf16Accesses(module);
  llvm::ModulePassManager cleanup;
  cleanup.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::DCEPass()));
  cleanup.run(module, modules);
}

llvm::Expected<std::unique_ptr<llvm::Module>>
par::buildDeviceModule(ModuleOp kernels, llvm::TargetMachine &machine, llvm::LLVMContext &context) {
  registerBuiltinDialectTranslation(*kernels.getContext());
  registerLLVMDialectTranslation(*kernels.getContext());
  registerNVVMDialectTranslation(*kernels.getContext());
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(kernels, context, "device");
  if (!module)
    return makeError("translation of the kernels to LLVM IR failed");
  module->setTargetTriple(machine.getTargetTriple().str());
  module->setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : *module)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", machine.getTargetCPU());
      function.addFnAttr(llvm::Attribute::NoUnwind);
    }
  markConvergent(*module);
  markPure(*module);
  optimize(*module, machine);
  return module;
}

/// The back end changes the module.
static llvm::Expected<std::string> runBackEnd(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return makeError("the NVPTX code generator writes no text");
  passes.run(module);
  return text.str().str();
}

llvm::Expected<std::string> par::printPtx(llvm::MemoryBufferRef bitcode) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(bitcode, context);
  if (!module)
    return module.takeError();
  llvm::StringRef chip;
  for (llvm::Function &function : **module)
    if (function.hasFnAttribute("target-cpu"))
      chip = function.getFnAttribute("target-cpu").getValueAsString();
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createDeviceMachine(chip);
  return machine ? runBackEnd(**module, **machine) : machine.takeError();
}

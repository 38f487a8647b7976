//===- HostCode.cpp - code for processors ---------------------------------------------------------===//
#include "HostCode.h"
#include "Linker.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "par/Support/MakeError.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::par;

const Processor &par::getAnyProcessor() {
  static const Processor any{"x86-64-v2", "", /*hasWideVectors=*/false};
  return any;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
par::createHostMachine(const Processor &processor, llvm::FPOpFusion::FPOpFusionMode fusion) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::string triple = llvm::sys::getDefaultTargetTriple(), message;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!found)
    return makeError("no code generator for " + triple + ": " + message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = fusion;
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, processor.cpu, processor.features, options, llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Straight code that passes addresses on: as long as a model is deep, and nothing in it is worth optimising.
static bool onlyCalls(const llvm::Function &function) {
  return function.size() == 1 &&
         (function.getName().ends_with(".rank") || function.getName().ends_with(".entry") ||
          function.getName().starts_with("par_schedule_"));
}

/// Iterations of a kernel's innermost loops do not depend on each other through memory (KernelWriter.cpp),
/// which the vectoriser could not see: an output may lie exactly over an input.
static void markParallel(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  llvm::LLVMContext &context = function.getContext();
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost())
      continue;
    llvm::MDNode *group = llvm::MDNode::getDistinct(context, {});
    for (llvm::BasicBlock *block : loop->blocks())
      for (llvm::Instruction &instruction : *block)
        if (instruction.mayReadOrWriteMemory())
          instruction.setMetadata(llvm::LLVMContext::MD_access_group, group);
    llvm::Metadata *property[] = {llvm::MDString::get(context, "llvm.loop.parallel_accesses"), group};
    llvm::Metadata *parts[] = {nullptr, llvm::MDNode::get(context, property)};
    llvm::MDNode *id = llvm::MDNode::getDistinct(context, parts);
    id->replaceOperandWith(0, id);
    loop->setLoopID(id);
  }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = true;
  // Loops are unrolled as far as the vectoriser interleaves them; short ones unrolled whole made blocks that
  // took seconds to select.
  tuning.LoopUnrolling = tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  // No passes between functions: kernels are called from many places and run long, so inlining them or
  // specialising their arguments would only take time to compile.
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(builder.buildFunctionSimplificationPipeline(
      llvm::OptimizationLevel::O3, llvm::ThinOrFullLTOPhase::None)));
  passes.addPass(
      builder.buildModuleOptimizationPipeline(llvm::OptimizationLevel::O3, llvm::ThinOrFullLTOPhase::None));
  passes.run(module, modules);
}

static llvm::Error writeObject(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef path) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return makeError("cannot write object code: " + code.message());
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return makeError("this processor's code generator writes no object files");
  passes.run(module);
  stream.close();
  if (stream.has_error()) {
    std::string why = stream.error().message();
    stream.clear_error(); // else its destructor ends the process
    return makeError("cannot write object code: " + why);
  }
  return llvm::Error::success();
}

/// A program runs with the manifest that it was compiled with only.
static void addManifestHash(llvm::Module &code, llvm::StringRef hash) {
  llvm::Constant *text = llvm::ConstantDataArray::getString(code.getContext(), hash);
  new llvm::GlobalVariable(code, text->getType(), /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
                           text, "par_manifest");
}

llvm::Error par::writeFile(llvm::StringRef path, llvm::StringRef bytes) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    stream << bytes;
    stream.close();
    code = stream.error();
    stream.clear_error(); // else its destructor ends the process
  }
  return code ? makeError("cannot write " + llvm::sys::path::filename(path) + ": " + code.message())
              : llvm::Error::success();
}

llvm::Error par::writeHostLibrary(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef path,
                                  llvm::ArrayRef<llvm::StringRef> archives) {
  // It is in the package's temporary folder and goes with that.
  std::string object = (path + ".o").str();
  llvm::Error error = writeObject(module, machine, object);
  if (!error)
    error = linkSharedLibrary(object, path, archives);
  llvm::sys::fs::remove(object);
  return error;
}

llvm::Error par::writeHostProgram(ModuleOp module, const Processor &processor, StringRef manifestHash,
                                  StringRef path) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return makeError("translation to LLVM IR failed");
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine =
      createHostMachine(processor, llvm::FPOpFusion::Fast);
  if (!machine)
    return machine.takeError();
  code->setTargetTriple((*machine)->getTargetTriple().str());
  code->setDataLayout((*machine)->createDataLayout());
  addManifestHash(*code, manifestHash);
  for (llvm::Function &function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", processor.cpu);
    function.addFnAttr("target-features", processor.features);
    function.addFnAttr("prefer-vector-width", processor.hasWideVectors ? "512" : "256");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr(llvm::Attribute::NoInline);
    if (onlyCalls(function))
      function.addFnAttr(llvm::Attribute::OptimizeNone);
    else
      markParallel(function);
  }
  optimize(*code, **machine);
  return writeHostLibrary(*code, **machine, path, {});
}

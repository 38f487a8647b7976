//===- KernelOfText.h - a program that is one kernel, from text ---------------------------------===//
#ifndef PAR_TEST_UNIT_TARGET_KERNELOFTEXT_H
#define PAR_TEST_UNIT_TARGET_KERNELOFTEXT_H

#include "KernelCase.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "par/Conversion/Passes.h"
#include "par/Register/Register.h"
#include "par/Target/Emulation.h"

namespace mlir::par {

/// One rank.kernel, or another op that becomes kernels: its inputs %a, %b, … and results by type, and its
/// body, which ends with what it yields.
struct KernelText {
  std::vector<std::string> ins, outs;
  std::string body;
  std::string op = "rank.kernel", attributes = ""; ///< of the op
};

/// A program that is one kernel.
class KernelOfText {
public:
  /// `counts`: what the kernel executes is counted.
  explicit KernelOfText(const KernelText &text, bool isAligned = true,
                        const DialectRegistry &registry = makeRegistry(), bool counts = false)
      : context(registry, MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(print(text, isAligned), &context);
    if (!module)
      return;
    addScratch();
    plan.target = TargetKind::Cuda;
    plan.chip = ChipKind::Sm90;
    auto emit = [&](ModuleOp copy) {
      PassManager manager(&context);
      manager.addPass(createRankToLLVM());
      return manager.run(copy);
    };
    program.emplace(*module, plan, emit, counts);
    EXPECT_EQ(program->names.size(), 1u);
    if (program->names.size() == 1)
      one.emplace(*program, program->names[0], random);
  }

  /// The counts of all emulations so far.
  EmulatedCounts getCounts() const { return *program->kernels->getCounts(); }
  KernelCase &operator*() { return *one; }
  KernelCase *operator->() { return &*one; }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

private:
  std::string getBuffer(const std::string &type) {
    return "!rank.buffer<" + std::to_string(rank::getBytes(parseType(type, &context))) + ">";
  }

  /// Of a program in which parts of a buffer are no multiples of 16 bytes, nothing is aligned.
  std::string print(const KernelText &text, bool isAligned) {
    std::string parameters, ins, inTypes, outs, outTypes, arguments;
    auto add = [](std::string &list, const std::string &item) { list += (list.empty() ? "" : ", ") + item; };
    for (size_t in = 0; in < text.ins.size(); ++in) {
      std::string name(1, static_cast<char>('a' + in)), buffer = getBuffer(text.ins[in]);
      add(parameters, "%i" + name + ": " + buffer);
      add(ins, "%i" + name);
      add(inTypes, buffer);
      add(arguments, "%" + name + ": " + text.ins[in]);
    }
    for (size_t out = 0; out < text.outs.size(); ++out) {
      std::string name = "%o" + std::to_string(out), buffer = getBuffer(text.outs[out]);
      add(parameters, name + ": " + buffer);
      add(outs, name);
      add(outTypes, buffer);
    }
    std::string module =
        "module attributes {par.plan = #par.plan<target = \"cuda\", chip = \"sm_90\">} {\n"
        "rank.func @f(" +
        parameters + ") attributes {frame = 0 : i64, results = " + std::to_string(text.outs.size()) +
        " : i64} {\n  " + text.op + " ins(" + ins + " : " + inTypes + ") outs(" + outs + " : " + outTypes +
        ") " + text.attributes + " {\n  ^bb0(" + arguments + "):\n" + text.body + "\n  }\n  rank.return\n}\n";
    if (!isAligned)
      module += R"(
rank.func @part(%x: !rank.buffer<12>) attributes {frame = 0 : i64, results = 0 : i64} { rank.return }
rank.func @whole(%x: !rank.buffer<36>) attributes {frame = 0 : i64, results = 0 : i64} {
  %f = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<0>
  rank.call @part frame %f : !rank.buffer<0> ins(%x : !rank.buffer<36>) outs() {parts = 3 : i64}
  rank.return
})";
    return module + "}\n";
  }

  void addScratch() {
    module->walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<rank::KernelOp, rank::AttentionOp>([&](auto work) {
        OpBuilder builder(work);
        for (int64_t bytes : findTarget(TargetKind::Cuda)->getWorkspaceBytes(work)) {
          auto type = rank::BufferType::get(&context, bytes, rank::Space::Device);
          auto scratch = builder.create<rank::AllocOp>(work.getLoc(), type, rank::Category::Workspace);
          scratch.setOffset(0);
          work.getScratchMutable().append(scratch.getBuffer());
        }
      });
    });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Plan plan;
  std::mt19937 random{5};
  std::optional<KernelProgram> program;
  std::optional<KernelCase> one;
};

inline std::string shape(std::vector<int64_t> sizes, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

/// Both types of elements that models have.
inline const char *const kTypes[] = {"f32", "bf16"};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_KERNELOFTEXT_H

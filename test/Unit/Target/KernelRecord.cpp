//===- KernelRecord.cpp - kernels with what they compute, for a machine with a GPU ----------------------===//
#include "KernelRecord.h"

using namespace mlir;
using namespace mlir::par;

KernelRecord::KernelRecord(std::string folder, bool isEmulated)
    : folder(std::move(folder)), isEmulated(isEmulated),
      bytes(this->folder + "/kernels.bin", std::ios::binary) {}

std::string KernelRecord::copy(const std::string &file, StringRef suffix) {
  std::string name = "kernels" + std::to_string(modules.size()) + suffix.str();
  EXPECT_FALSE(llvm::sys::fs::copy_file(file, folder + "/" + name));
  return name;
}

void KernelRecord::begin(const KernelProgram &program) {
  copy(program.kernels->getPath(), ".emulated.so");
  modules.push_back(copy(program.getText(), ".ptx"));
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static llvm::json::Array getNumbers(DictionaryAttr launch, StringRef member) {
  return llvm::json::Array(launch.getAs<DenseI64ArrayAttr>(member).asArrayRef());
}

llvm::json::Object KernelRecord::add(const KernelCase &one, size_t operand) {
  size_t ins = one.ins.size(), outs = isEmulated ? one.types.size() : 0;
  RankedTensorType type = one.getType(static_cast<int64_t>(operand));
  llvm::json::Object described{{"bytes", one.getBytes(static_cast<int64_t>(operand))},
                               {"type", print(type.getElementType())},
                               {"shape", llvm::json::Array(type.getShape())},
                               {"kind", operand < ins          ? "in"
                                        : operand < ins + outs ? "out"
                                                               : "scratch"}};
  if (operand >= ins + outs)
    return described;
  DeviceBytes contents = one.getContents(operand);
  described["at"] = written;
  bytes.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  written += static_cast<int64_t>(contents.size());
  return described;
}

void KernelRecord::add(const KernelCase &one, StringRef where) {
  llvm::json::Array operands, launches;
  for (size_t operand = 0; operand < one.countOperands(); ++operand)
    operands.push_back(add(one, operand));
  for (size_t number = 0; number < one.countLaunches(); ++number) {
    auto [kernel, how] = one.getLaunched(number);
    launches.push_back(llvm::json::Object{{"kernel", kernel.str()},
                                          {"grid", getNumbers(how, launch::kGrid)},
                                          {"block", getNumbers(how, launch::kBlock)},
                                          {"shared", how.getAs<IntegerAttr>(launch::kSharedBytes).getInt()},
                                          {"operands", getNumbers(how, launch::kOperands)},
                                          {"coords", how.getAs<BoolAttr>(launch::kCoords).getValue()}});
  }
  cases.push_back(llvm::json::Object{{"plan", one.getPlan().str()},
                                     {"where", where.str()},
                                     {"slack", one.slack},
                                     {"module", static_cast<int64_t>(modules.size()) - 1},
                                     {"coords", llvm::json::Array(one.getLastCoords())},
                                     {"operands", std::move(operands)},
                                     {"launches", std::move(launches)}});
}

bool KernelRecord::finish() {
  std::ofstream file(folder + "/kernels.json");
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(
      llvm::json::Object{{"modules", std::move(modules)}, {"cases", std::move(cases)}});
  file << text << "\n";
  file.close();
  bytes.close();
  return file.good() && bytes.good();
}

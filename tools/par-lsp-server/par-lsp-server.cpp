//===- par-lsp-server.cpp - MLIR's language server with par's dialects ------------------------------===//
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "par/Register/Register.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/Flags.h"

using namespace mlir;

/// MLIR's own flags, of those that it lists under its name.
struct ServerFlags {
  std::string style = "standard", log = "info";
  bool isLitTest = false, isPretty = false;

  void describe(par::Flags &flags) {
    flags.choice("input-style", {"standard", "delimited"}, "how messages are written (default: standard)",
                 style);
    flags.choice("log", {"error", "info", "verbose"}, "what is written to stderr (default: info)", log);
    flags.toggle("lit-test", "input for tests: --input-style delimited --pretty --log verbose", isLitTest);
    flags.toggle("pretty", "prints JSON in lines", isPretty);
  }

  std::vector<std::string> print() const {
    std::vector<std::string> arguments;
    if (isLitTest)
      arguments.push_back("--lit-test");
    if (isPretty)
      arguments.push_back("--pretty");
    arguments.insert(arguments.end(), {"--input-style=" + style, "--log=" + log});
    return arguments;
  }
};

int main(int argc, char **argv) {
  // One dash is enough for LLVM, so for who starts servers.
  std::vector<std::string> given(argv, argv + argc);
  for (std::string &argument : llvm::drop_begin(given))
    if (argument.size() > 2 && argument[0] == '-' && argument[1] != '-')
      argument.insert(0, "-");
  std::vector<const char *> pointers;
  for (const std::string &argument : given)
    pointers.push_back(argument.c_str());

  ServerFlags wanted;
  par::Flags flags("par-lsp-server [flags]",
                   "MLIR's language server with par's dialects, over standard input and output.");
  wanted.describe(flags);
  if (std::optional<int> status = flags.take(static_cast<int>(pointers.size()), pointers.data()))
    return *status;

  for (const char *flag : {"input-style", "log", "pretty"})
    if (wanted.isLitTest && flags.getGiven().count(flag)) {
      par::printError("--lit-test says what --" + llvm::Twine(flag) + " is; leave out one of them");
      return 1;
    }

  std::vector<std::string> arguments = wanted.print();
  std::vector<char *> taken = {argv[0]};
  for (std::string &argument : arguments)
    taken.push_back(argument.data());
  DialectRegistry registry;
  par::registerDialects(registry);
  return failed(MlirLspServerMain(static_cast<int>(taken.size()), taken.data(), registry));
}

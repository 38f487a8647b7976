//===- LlvmCommandLine.h - tools whose flags are LLVM's --------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_LLVMCOMMANDLINE_H
#define PAR_SUPPORT_LLVMCOMMANDLINE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mlir::par {

/// The command line of a tool whose flags are registered with llvm::cl, and `--config FILE`, a file of flags
/// that counts where the command line is silent (docs/RunFiles.md). What is wrong is one `error:` line.
class LlvmCommandLine {
public:
  /// `tool` is the name that `--version` prints, and that of the file's table.
  LlvmCommandLine(llvm::StringRef tool, int argc, char **argv);

  /// Puts the flags of the file before those of the command line. All that a file may have is registered by
  /// then. False after an error.
  [[nodiscard]] bool readFile();
  /// Gives every flag its value. False after an error.
  [[nodiscard]] bool parse(llvm::StringRef overview);

  /// False after an error: the tool would write over its input or the file of flags.
  [[nodiscard]] bool checkOutput(llvm::StringRef input, llvm::StringRef output) const;

  /// The file's, then the command line's; what is changed of them is what `parse` reads.
  std::vector<std::string> &getArguments() { return arguments; }

private:
  bool findFile(std::string &path) const;

  std::string tool, program, configFile;
  std::vector<std::string> arguments; ///< without the program
  bool fileRead = false;
};

} // namespace mlir::par

#endif // PAR_SUPPORT_LLVMCOMMANDLINE_H

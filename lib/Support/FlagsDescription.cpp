//===- FlagsDescription.cpp - flags as they are told to people ------------------------------------------===//
#include "FlagsDescription.h"
#include "par/Support/MakeError.h"
#include "par/Support/SuggestWord.h"
#include "par/config/HelpText.h"
#include "par/config/Spelling.h"

using namespace llvm;

namespace mlir::par {

::par::config::KnownFlags Flags::Description::getKnown(const Flags &flags) {
  ::par::config::KnownFlags known{flags.toolName().str(), {"--help", "--version"}, flags.foreign};
  for (const Flag &flag : flags.flags)
    known.spellings.push_back(flag.spelling());
  return known;
}

Error Flags::unknown(StringRef spelling, StringRef value) const {
  return makeError(::par::config::refuseFlag({spelling.str(), value.str()}, Description::getKnown(*this)));
}

void Flags::printHelp(raw_ostream &os) const {
  ::par::config::HelpPage page{overview, usage, {}, {}, {}};
  for (const Flag &flag : flags)
    if (flag.name != "config") // which all tools have
      page.flags.push_back({flag.spelling(), flag.value, flag.help, flag.section});
  for (const std::string &name : mostUsed)
    page.first.push_back((name.size() == 1 ? "-" : "--") + name);
  os << ::par::config::printHelp(page, ::par::config::helpColumns());
}

std::string suggestWord(StringRef text, ArrayRef<std::string> words) {
  return ::par::config::suggestWord(text.str(), words.vec());
}

} // namespace mlir::par

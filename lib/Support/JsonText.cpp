//===- JsonText.cpp - JSON that somebody else wrote -----------------------------------------------------===//
#include "par/Support/JsonText.h"
#include "par/Limits.h"
#include "par/Support/JsonScanner.h"
#include "par/Support/MakeError.h"

using namespace mlir::par;
using ::par::limits::jsonLevels;

llvm::Expected<llvm::json::Value> mlir::par::parseJson(llvm::StringRef name, llvm::StringRef text,
                                                       llvm::StringRef kind) {
  text.consume_front("\xEF\xBB\xBF");
  JsonScanner scanner(text);
  // The parser recurses.
  if (!scanner.run(jsonLevels))
    return makeError(name + ":" + llvm::Twine(scanner.getLine()) + ": brackets nest deeper than " +
                     llvm::Twine(jsonLevels) + " levels, which no " + kind + " does");
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return makeError(name + ": is no JSON: " + llvm::toString(value.takeError()));
  if (scanner.doubled) // JSON leaves open which of them counts
    return makeError(name + ":" + llvm::Twine(scanner.doubled->first) + ": the key \"" + scanner.doubledKey +
                     "\" is in line " + llvm::Twine(scanner.firstLine) + " already; take one of them out");
  return value;
}

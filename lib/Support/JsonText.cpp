//===- JsonText.cpp - JSON that others wrote or will read -----------------------------------------------===//
#include "par/Support/JsonText.h"
#include "par/Limits.h"
#include "par/Support/JsonScanner.h"
#include "par/Support/MakeError.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>

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

/// The shortest text that is read back as `number`, with a point or an exponent.
static std::string printFloat(double number) {
  char text[32];
  std::string shortest(text, std::to_chars(text, text + sizeof text, number).ptr);
  bool looksWhole = llvm::StringRef(shortest).find_first_of(".e") == llvm::StringRef::npos;
  return looksWhole ? shortest + ".0" : shortest;
}

static void print(llvm::json::OStream &out, const llvm::json::Value &value) {
  if (const llvm::json::Object *object = value.getAsObject())
    return out.object([&] {
      for (const llvm::json::Object::value_type *entry : llvm::json::sortedElements(*object)) {
        out.attributeBegin(entry->first);
        print(out, entry->second);
        out.attributeEnd();
      }
    });
  if (const llvm::json::Array *array = value.getAsArray())
    return out.array([&] {
      for (const llvm::json::Value &element : *array)
        print(out, element);
    });
  bool isWhole = value.getAsUINT64() || (value.getAsInteger() && *value.getAsInteger() < 0);
  if (value.kind() == llvm::json::Value::Number && !isWhole)
    return out.rawValue(printFloat(*value.getAsNumber()));
  out.value(value);
}

std::string mlir::par::printJson(const llvm::json::Value &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream out(stream, /*IndentSize=*/2);
  print(out, value);
  return text;
}

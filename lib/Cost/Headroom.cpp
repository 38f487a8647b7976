//===- Headroom.cpp - what plans leave free of a device -------------------------------------------------===//
#include "par/Cost/Headroom.h"
#include "par/Support/Bytes.h"
#include "par/Support/MakeError.h"

using namespace mlir::par;

llvm::Expected<Headroom> mlir::par::parseHeadroom(llvm::StringRef text) {
  llvm::StringRef number = text;
  if (number.consume_back("%")) {
    double percent;
    if (!number.getAsDouble(percent) && percent >= 0 && percent < 100)
      return Headroom{percent / 100, 0};
    return makeError("is '" + text + "', expected a share from 0% to below 100%, or a size such as 4GiB");
  }
  if (text == "0")
    return Headroom();
  llvm::Expected<int64_t> bytes = parseBytes(text);
  if (!bytes)
    return makeError(llvm::toString(bytes.takeError()) + ", or a share such as 5%");
  return Headroom{0, static_cast<double>(*bytes)};
}

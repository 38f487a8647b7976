#include "par/Support/JsonText.h"
#include "gtest/gtest.h"

namespace {

/// A number that others read as a float stays one, and an integer, too.
TEST(JsonText, NumbersKeepTheirTypes) {
  llvm::StringRef text = R"({
  "array": [
    1,
    1.0,
    0.1,
    1e-06,
    1e+20,
    -1,
    -0.5
  ],
  "false": false,
  "null": null,
  "object": {
    "big": 18446744073709551615,
    "cap": 3.0,
    "text": "3.0"
  }
})";
  llvm::Expected<llvm::json::Value> value = mlir::par::parseJson("file", text, "config");
  ASSERT_TRUE(bool(value));
  EXPECT_EQ(mlir::par::printJson(*value), text);
}

} // namespace

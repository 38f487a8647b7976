//===- TestContext.h - a context with all of par ----------------------------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_PROPERTY_TESTCONTEXT_H
#define PAR_TEST_UNIT_PROPERTY_TESTCONTEXT_H

#include "par/Register/Register.h"
#include "par/Support/OneThread.h"

namespace mlir::par::test {

/// Knows par's dialects and, by their names in pipelines, its passes. One thread.
class TestContext : public OneThreadContext {
public:
  TestContext() {
    DialectRegistry registry;
    registerDialects(registry);
    appendDialectRegistry(registry);
    static bool registered = (registerPasses(), true);
    (void)registered;
  }
};

} // namespace mlir::par::test

#endif // PAR_TEST_UNIT_PROPERTY_TESTCONTEXT_H

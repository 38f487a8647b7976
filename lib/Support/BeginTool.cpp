//===- BeginTool.cpp - what every tool does first -------------------------------------------------------===//
#include "par/Support/BeginTool.h"
#include "par/io/EndingSignals.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstring>
#include <new>
#include <unistd.h>

static const char *remedy;

/// Allocates nothing.
static void end() {
  for (const char *text : {"error: out of memory; ", remedy, "\n"})
    (void)!write(STDERR_FILENO, text, strlen(text));
  ::par::io::removeTemporariesForGood();
  _exit(1);
}

void mlir::par::beginTool(const char *text) {
  ::par::io::removeTemporariesOnSignals();
  remedy = text;
  std::set_new_handler(end);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { end(); });
}

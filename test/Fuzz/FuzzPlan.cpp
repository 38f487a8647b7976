// Plans: any text is read or refused with one line; what is read passes or fails the checks of plans, and
// reads back as it is written. So it does in a manifest.
#include "Fuzz.h"
#include "JsonMutator.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/PlanFlags.h"
#include "par/Plan/PlanJson.h"
#include "par/config/Message.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstdlib>

using namespace mlir::par;

static std::string write(const Plan &plan) { return llvm::formatv("{0}", llvm::json::Value(toJson(plan))); }

/// One line that a terminal shows, of bounded length.
static void checkLine(llvm::Error error) {
  std::string line = ::par::config::errorLine(llvm::toString(std::move(error)));
  if (line.find('\n') + 1 != line.size() || line.size() > 6 * 2100 || line.find('\x1b') != std::string::npos)
    std::abort();
}

static void read(llvm::StringRef text) {
  llvm::Expected<Plan> plan = parsePlan("plan.json", text);
  if (!plan)
    return checkLine(plan.takeError());
  std::string written = write(*plan);
  llvm::Expected<Plan> again = parsePlan("written.json", written);
  if (!again)
    llvm::report_fatal_error(again.takeError());
  if (!(*again == *plan) || write(*again) != written)
    std::abort();
  (void)printDifference(Plan(), *plan);
  for (bool hasLimit : {false, true})
    if (llvm::Error error = checkPlan(*plan, PlanWords("plan.json"), hasLimit))
      checkLine(std::move(error));
    else
      (void)dropIdle(*again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  read(text);
  read("{\"format_version\":6,\"plan\":" + text + "}");
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return par::fuzz::mutateJson(data, size, maxSize, seed);
}

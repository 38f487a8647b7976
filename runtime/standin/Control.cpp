#include "standin/Control.h"

#include "standin/Exports.h"
#include "standin/Kernels.h"

using namespace par::standin;

PAR_STANDIN_EXPORT void par_standin_reset() {
  Lock lock(stateMutex());
  resetState();
}

PAR_STANDIN_EXPORT const char *par_standin_findings() {
  static std::string text;
  text = findings();
  return text.c_str();
}

PAR_STANDIN_EXPORT void par_standin_give_kernel(const char *name, par_emulated_kernel kernel) {
  Lock lock(stateMutex());
  giveKernel(name, kernel);
}

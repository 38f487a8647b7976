#include "Standin.h"

#include "standin/Control.h"

#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>

namespace par::test {

void Environment::set(const std::string &name, const std::string &value) {
  const char *old = std::getenv(name.c_str());
  before.push_back({name, old ? old : ""});
  setenv(name.c_str(), value.c_str(), 1);
}

Environment::~Environment() {
  for (size_t i = before.size(); i-- > 0;)
    before[i].second.empty() ? unsetenv(before[i].first.c_str())
                             : setenv(before[i].first.c_str(), before[i].second.c_str(), 1);
}

static const cuda::Driver &loaded() {
  const cuda::Driver *driver = nullptr;
  io::Status status = cuda::loadDriver(driver);
  if (!status.ok())
    throw std::runtime_error(status.message());
  return *driver;
}

template <typename Function>
static Function *control(const char *name) {
  static void *library = dlopen(PAR_STANDIN_DIR "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, name) : nullptr;
  if (!symbol)
    throw std::runtime_error(dlerror());
  return reinterpret_cast<Function *>(symbol);
}

std::string standinFindings() { return control<decltype(par_standin_findings)>("par_standin_findings")(); }

Standin::Standin() : cu(loaded()) { restart(); }

Standin::~Standin() {
  EXPECT_EQ(findings(), "");
  control<decltype(par_standin_reset)>("par_standin_reset")();
}

void Standin::restart() {
  control<decltype(par_standin_reset)>("par_standin_reset")();
  taken = 0;
  cuda::CUcontext context = nullptr;
  EXPECT_EQ(cu.cuDevicePrimaryCtxRetain(&context, 0), cuda::CUDA_SUCCESS);
  EXPECT_EQ(cu.cuCtxSetCurrent(context), cuda::CUDA_SUCCESS);
}

std::string Standin::findings() {
  std::string all = standinFindings();
  std::string fresh = all.substr(taken);
  taken = all.size();
  return fresh;
}

void Standin::give(const char *kernel, par_emulated_kernel computes) {
  control<decltype(par_standin_give_kernel)>("par_standin_give_kernel")(kernel, computes);
}

} // namespace par::test

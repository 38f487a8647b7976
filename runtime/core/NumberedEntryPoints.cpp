// Entry points of programs for devices that take work by number. No such device is built here: packages for
// them are refused before their programs are loaded (Package.cpp). A device that takes them defines these
// functions, which are weak for that reason.
#include "par/runtime.h"

#include <cstdio>
#include <cstdlib>

static void refuse(const char *name) {
  std::fprintf(stderr,
               "error: a program calls %s, but this runtime has no device that takes work by number\n", name);
  std::abort();
}

extern "C" __attribute__((weak)) void par_launch(void *, int32_t, void *) { refuse("par_launch"); }
extern "C" __attribute__((weak)) void par_product_call(void *, int32_t, void *, void *) {
  refuse("par_product_call");
}
extern "C" __attribute__((weak)) void par_attention_call(void *, int32_t, void *) {
  refuse("par_attention_call");
}

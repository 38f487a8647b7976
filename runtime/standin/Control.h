/// What tests ask of the stand-in, beside the driver's functions: found in the library by name.
#ifndef PAR_STANDIN_CONTROL_H
#define PAR_STANDIN_CONTROL_H

#include "par/emulation.h"

extern "C" {
/// Everything is as at the start of a process, and the environment is read again. Nothing of the driver is in
/// use.
void par_standin_reset();
/// What was found since then, one line each. Valid until the next call.
const char *par_standin_findings();
/// Who computes a kernel of this name, in modules that no package of PAR_STANDIN_KERNELS has.
void par_standin_give_kernel(const char *name, par_emulated_kernel kernel);
}

#endif

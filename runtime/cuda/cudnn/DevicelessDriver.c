/* A driver without a device: what cuDNN asks of libcuda.so.1 to plan for a GPU that is not there. It compiles a kernel
   itself (NVRTC) and loads it once, to look at it. */
#include <stdlib.h>

int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *count) { return *count = 0; }
int cuLibraryLoadData(void **library, const void *code, void *options, void *values, unsigned count, void *more,
                      void *moreValues, unsigned moreCount) {
  return (*library = malloc(1)) ? 0 : 2;
}
int cuLibraryUnload(void *library) {
  free(library);
  return 0;
}
int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  static char it;
  *kernel = &it;
  return 0;
}
/* NVRTC asks, and goes without. */
int cuGetExportTable(const void **table, const void *id) {
  *table = 0;
  return 500;
}

/* These are looked up, and not called by any cuDNN that is known. */
#define NEVER(name)                                                                                          \
  int name(void) { return 801; } /* CUDA_ERROR_NOT_SUPPORTED */
NEVER(cuCtxGetCurrent)
NEVER(cuCtxGetDevice)
NEVER(cuCtxGetLimit)
NEVER(cuCtxPopCurrent)
NEVER(cuCtxPushCurrent)
NEVER(cuDeviceGet)
NEVER(cuDeviceGetAttribute)
NEVER(cuDevicePrimaryCtxRelease)
NEVER(cuDevicePrimaryCtxReset)
NEVER(cuDevicePrimaryCtxRetain)
NEVER(cuDriverGetVersion)
NEVER(cuFuncGetAttribute)
NEVER(cuFuncSetAttribute)
NEVER(cuGetErrorName)
NEVER(cuGetErrorString)
NEVER(cuKernelGetAttribute)
NEVER(cuKernelSetAttribute)
NEVER(cuLaunchCooperativeKernel)
NEVER(cuLaunchKernel)
NEVER(cuLaunchKernelEx)
NEVER(cuLibraryLoadFromFile)
NEVER(cuLinkAddData)
NEVER(cuLinkAddData_v2)
NEVER(cuLinkAddFile_v2)
NEVER(cuLinkComplete)
NEVER(cuLinkCreate)
NEVER(cuLinkCreate_v2)
NEVER(cuLinkDestroy)
NEVER(cuMemcpyDtoH_v2)
NEVER(cuModuleGetFunction)
NEVER(cuModuleGetGlobal_v2)
NEVER(cuModuleLoadData)
NEVER(cuModuleLoadDataEx)
NEVER(cuModuleLoadFatBinary)
NEVER(cuModuleUnload)
NEVER(cuOccupancyMaxActiveBlocksPerMultiprocessor)
NEVER(cuOccupancyMaxPotentialClusterSize)
NEVER(cuStreamGetCtx)
NEVER(cuStreamSynchronize)
NEVER(cuTensorMapEncodeTiled)

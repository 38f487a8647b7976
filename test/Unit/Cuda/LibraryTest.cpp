// Libraries opened by name, and what is said where they are not there or too old.
#include "cuda/Driver.h"
#include "cuda/cudnn/Cudnn.h"

#include <gtest/gtest.h>

using namespace par;
using namespace par::cuda;

TEST(CudaLibrary, AMissingOneIsNamedWithItsPackage) {
  LibraryName name = driverName();
  name.files = {"libcuda-that-is-not-there.so.1"};
  Driver driver;
  std::string message = openDriver(name, driver).message();
  EXPECT_EQ(message.find("a package for CUDA needs libcuda-that-is-not-there.so.1: "), 0u) << message;
  EXPECT_NE(
      message.find("install NVIDIA's driver (Debian: nvidia-driver, libcuda1), or compile with --target cpu"),
      std::string::npos)
      << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(CudaLibrary, AnOldOneIsNamedWithTheFunctionThatItLacks) {
  LibraryName name = driverName();
  name.files = {"libm.so.6"};
  Driver driver;
  EXPECT_EQ(openDriver(name, driver).message(), "libm.so.6 has no function cuInit, so it is older than the "
                                                "driver of CUDA 12.0; install a newer NVIDIA's "
                                                "driver (Debian: nvidia-driver, libcuda1)");
}

TEST(CudaLibrary, TheFirstNameThatIsThereIsTaken) {
  LibraryName name = driverName();
  name.files = {"libcuda-that-is-not-there.so.1", "libcuda.so.1"};
  Driver driver;
  EXPECT_TRUE(openDriver(name, driver).ok());
  EXPECT_NE(driver.cuGraphDestroy, nullptr); // the last of the table
}

TEST(CudaLibrary, AttentionNeedsNoCudnn) {
  LibraryName name = cudnnName();
  name.files = {"libcudnn-that-is-not-there.so.9"};
  Cudnn cudnn;
  std::string message = openCudnn(name, cudnn).message();
  EXPECT_EQ(message.find("attention by cuDNN needs libcudnn-that-is-not-there.so.9: "), 0u) << message;
  EXPECT_NE(message.find("install NVIDIA's cuDNN (libcudnn9-cuda-13), or run with --attention generated"),
            std::string::npos)
      << message;
}

TEST(CudaLibrary, ResultsHaveTheirNames) {
  const Driver *driver = nullptr;
  ASSERT_TRUE(loadDriver(driver).ok());
  EXPECT_TRUE(driver->status("cuMemAlloc_v2", CUDA_SUCCESS).ok());
  EXPECT_EQ(driver->status("cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY).message(),
            "cuMemAlloc_v2: out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
  EXPECT_EQ(driver->status("cuInit", 12345).message(), "cuInit: error 12345 of CUDA");
}

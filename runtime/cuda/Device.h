// One GPU, and what a rank holds open on it.
#pragma once

#include "runtime/cuda/Check.h"

#include <string>

namespace syncline::cuda {

/// Whether there is a driver that this build can use and a device. badInput that says what is
/// missing. Starts nothing on a device.
Status available();
/// Those that CUDA shows this process; 0 where available() has an error.
int deviceCount();
/// "NVIDIA H100 80GB HBM3"; empty where CUDA does not say.
std::string deviceName(int index);
/// Of what was loaded: "CUDA 13.0, cuDNN 9.13.0".
std::string libraryVersions();

/// What this build has code for: compute capability 8.0 and later.
inline constexpr int oldestMajor = 8;

/// A device with its streams and library handles. One thread uses it at a time, but for the channel
/// stream, which is one channel's. Everything throws Failure.
class Device {
public:
  /// `index` counts the devices that CUDA shows this process. Precondition: available(). badInput
  /// where there is none, or one older than this build has code for.
  explicit Device(int index);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device();

  /// CUDA's calls go to the calling thread's device: to be called first in every thread.
  void makeCurrent() const { check(cudaSetDevice(index), "cudaSetDevice"); }

  int index;
  std::string name;               ///< "device 0 (NVIDIA H100 80GB HBM3)"
  cudaStream_t compute = nullptr; ///< the step's operations, in order
  cudaStream_t channel = nullptr; ///< updates that a channel without a stream of its own asks for
  cudnnHandle_t cudnn = nullptr;  ///< on `compute`
  cublasLtHandle_t blas = nullptr;

private:
  void identify();
  void open();
  void close();
};

} // namespace syncline::cuda

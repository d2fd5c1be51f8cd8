// One GPU, with a rank's streams and library handles.
#pragma once

#include "runtime/cuda/Check.h"

#include <string>

namespace syncline::cuda {

/// Ok when there are a usable driver and a device; otherwise badInput that says what is missing.
/// Starts nothing on a device.
Status available();
/// The number of devices that CUDA shows this process; 0 where available() has an error.
int deviceCount();
/// The device's name, such as "NVIDIA H100 80GB HBM3". Empty where CUDA does not report one.
std::string deviceName(int index);
/// Versions of the loaded libraries: "CUDA 13.0, cuDNN 9.13.0".
std::string libraryVersions();
/// The version of the loaded cuDNN: "9.13.0".
std::string dnnVersion();

/// The oldest major compute capability for which this build has code (8.0 and later).
inline constexpr int oldestMajor = 8;

/// A device with its streams and library handles. One thread at a time uses it, except for the
/// stream `channel`, which belongs to one channel. All functions throw Failure.
class Device {
public:
  /// Opens device `index` of those that CUDA shows this process. Precondition: available(). Errors:
  /// badInput where there is no such device, or it is older than this build supports.
  explicit Device(int index);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device();

  /// Copies on `compute` and waits for the copy.
  void copy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind) const {
    SYNCLINE_CHECK(cudaMemcpyAsync(to, from, bytes, kind, compute));
    SYNCLINE_CHECK(cudaStreamSynchronize(compute));
  }
  /// Makes this the calling thread's device. Each thread calls it before other CUDA calls.
  void makeCurrent() const { SYNCLINE_CHECK(cudaSetDevice(index)); }

  int index;
  std::string name;               ///< for messages: "device 0 (NVIDIA H100 80GB HBM3)"
  std::string model;              ///< with its compute capability: "NVIDIA H100 80GB HBM3 (9.0)"
  cudaStream_t compute = nullptr; ///< the step's operations, in order
  cudaStream_t channel = nullptr; ///< updates for a channel without its own stream
  cudnnHandle_t cudnn = nullptr;  ///< on `compute`
  cublasLtHandle_t blas = nullptr;

private:
  void identify();
  void open();
  void close();
};

} // namespace syncline::cuda

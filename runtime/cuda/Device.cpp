// Querying drivers and devices, and creating handles.
#include "runtime/cuda/Device.h"

namespace syncline::cuda {

namespace {

/// CUDA's version number as text: "13.0" for 13000.
std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string dnnVersion(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

/// cuDNN's version; and the one whose headers this code was compiled with if that is later, because
/// then cuDNN may refuse what the code asks for.
std::string dnnText(std::size_t loaded, std::size_t compiled) {
  const std::string text = "cuDNN " + dnnVersion(loaded);
  return loaded < compiled ? text + " (compiled with " + dnnVersion(compiled) + ")" : text;
}

} // namespace

Status available() {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    return Status::badInput("no NVIDIA driver is installed on this machine");
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (found == cudaErrorInsufficientDriver)
    return Status::badInput("expected an NVIDIA driver for CUDA " + versionText(CUDART_VERSION) +
                            " or later, got one for CUDA " + versionText(driver));
  if (found == cudaErrorNoDevice || (found == cudaSuccess && count == 0))
    return Status::badInput("no CUDA device is visible on this machine");
  if (found != cudaSuccess)
    return Status::badInput(std::string("cannot use CUDA: ") + cudaGetErrorString(found));
  return Status::ok();
}

int deviceCount() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string deviceName(int index) {
  cudaDeviceProp properties{};
  const bool isThere = cudaGetDeviceProperties(&properties, index) == cudaSuccess;
  cudaGetLastError();
  return isThere ? properties.name : "";
}

std::string dnnVersion() { return dnnVersion(cudnnGetVersion()); }

std::string libraryVersions() {
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  return "CUDA " + versionText(runtime) + ", " + dnnText(cudnnGetVersion(), CUDNN_VERSION);
}

Device::Device(int index) : index(index) {
  int count = 0;
  SYNCLINE_CHECK(cudaGetDeviceCount(&count));
  if (index < 0 || index >= count)
    throw Failure{ErrorKind::badInput, "no CUDA device " + std::to_string(index) +
                                           ": this machine shows " + std::to_string(count)};
  identify();
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}

Device::~Device() {
  cudaSetDevice(index);
  close();
}

void Device::identify() {
  cudaDeviceProp properties{};
  SYNCLINE_CHECK(cudaGetDeviceProperties(&properties, index));
  name = "device " + std::to_string(index) + " (" + properties.name + ")";
  model = std::string(properties.name) + " (" + std::to_string(properties.major) + "." +
          std::to_string(properties.minor) + ")";
  if (properties.major < oldestMajor)
    throw Failure{ErrorKind::badInput, name + ": expected compute capability " +
                                           std::to_string(oldestMajor) + ".0 or later, got " +
                                           std::to_string(properties.major) + "." +
                                           std::to_string(properties.minor)};
}

void Device::open() {
  makeCurrent();
  SYNCLINE_CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
  SYNCLINE_CHECK(cudaStreamCreateWithFlags(&channel, cudaStreamNonBlocking));
  SYNCLINE_CHECK(cudnnCreate(&cudnn));
  SYNCLINE_CHECK(cudnnSetStream(cudnn, compute));
  SYNCLINE_CHECK(cublasLtCreate(&blas));
}

void Device::close() {
  if (blas)
    cublasLtDestroy(blas);
  if (cudnn)
    cudnnDestroy(cudnn);
  for (cudaStream_t stream : {channel, compute})
    if (stream)
      cudaStreamDestroy(stream);
}

} // namespace syncline::cuda

// CUDA's devices, drivers and errors on the host. The environment says which machine is played:
// SYNCLINE_HOST_CUDA_DEVICES (1), _MEMORY (bytes of a device), _DRIVER (version, as 13000),
// _CAPABILITY (as 90).
#include "tests/host-cuda/Stream.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <utility>

using namespace syncline::hostcuda;

namespace {

thread_local cudaError_t lastError = cudaSuccess;
thread_local int device = 0;
std::atomic<cudaError_t> breakage = cudaSuccess;

int driverVersion() {
  return static_cast<int>(setting("SYNCLINE_HOST_CUDA_DRIVER", CUDART_VERSION));
}

/// Runs with any driver of its major version.
cudaError_t countDevices(int *count) {
  *count = 0;
  if (driverVersion() / 1000 < CUDART_VERSION / 1000)
    return cudaErrorInsufficientDriver;
  *count = static_cast<int>(setting("SYNCLINE_HOST_CUDA_DEVICES", 1));
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t checkDevice(int index) {
  int count = 0;
  if (cudaError_t error = countDevices(&count))
    return error;
  return index >= 0 && index < count ? cudaSuccess : cudaErrorInvalidDevice;
}

struct ErrorText {
  cudaError_t error;
  const char *name, *text;
};

/// As CUDA says them.
constexpr ErrorText texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

const ErrorText &textOf(cudaError_t error) {
  static constexpr ErrorText unknown{cudaErrorUnknown, "unrecognized error code", "unknown error"};
  for (const ErrorText &text : texts)
    if (text.error == error)
      return text;
  return unknown;
}

} // namespace

namespace syncline::hostcuda {

cudaError_t said(cudaError_t error) {
  if (error != cudaSuccess)
    lastError = error;
  return error;
}

void breakDevice(cudaError_t error, const char *what) {
  std::fprintf(stderr, "host-cuda: %s\n", what);
  breakage = error;
}

cudaError_t broken() { return breakage; }

int currentDevice() { return device; }

} // namespace syncline::hostcuda

cudaError_t cudaGetLastError() { return std::exchange(lastError, broken()); }
/// Mends what broke; memory and streams stay.
cudaError_t cudaDeviceReset() {
  breakage = lastError = cudaSuccess;
  return cudaSuccess;
}
cudaError_t cudaPeekAtLastError() { return lastError; }
const char *cudaGetErrorString(cudaError_t error) { return textOf(error).text; }
const char *cudaGetErrorName(cudaError_t error) { return textOf(error).name; }

cudaError_t cudaDriverGetVersion(int *version) {
  *version = driverVersion();
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) { return said(countDevices(count)); }

cudaError_t cudaSetDevice(int index) {
  if (cudaError_t error = checkDevice(index))
    return said(error);
  device = index;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *index) {
  *index = device;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int index) {
  if (cudaError_t error = checkDevice(index))
    return said(error);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "host");
  std::snprintf(properties->uuid.bytes, sizeof properties->uuid.bytes, "host %d", index);
  properties->totalGlobalMem = setting("SYNCLINE_HOST_CUDA_MEMORY", std::uint64_t{1} << 40);
  const auto capability = static_cast<int>(setting("SYNCLINE_HOST_CUDA_CAPABILITY", 90));
  properties->major = capability / 10;
  properties->minor = capability % 10;
  properties->pciBusID = index + 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int index) {
  cudaDeviceProp properties;
  if (cudaError_t error = cudaGetDeviceProperties(&properties, index))
    return error;
  switch (attribute) {
  case cudaDevAttrComputeCapabilityMajor:
    *value = properties.major;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMinor:
    *value = properties.minor;
    return cudaSuccess;
  case cudaDevAttrPciBusId:
    *value = properties.pciBusID;
    return cudaSuccess;
  case cudaDevAttrPciDeviceId:
  case cudaDevAttrPciDomainId:
    *value = 0;
    return cudaSuccess;
  default:
    return said(cudaErrorInvalidValue);
  }
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int index) {
  if (cudaError_t error = checkDevice(index))
    return said(error);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", index + 1);
  return cudaSuccess;
}

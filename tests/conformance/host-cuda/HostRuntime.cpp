// CUDA's runtime on the host: memory is the host's, streams do everything at once.
//
// The suite runs the CUDA backend over this, over HostDnn and HostBlas, and its kernels
// over HostLaunch: what the backend says and computes is judged without a device, what the device
// and its libraries make of it is not.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>

namespace {

int streamsOpen = 0;

/// From here on memory is only backed once touched: the spaces of a test are mostly empty.
constexpr std::size_t large = std::size_t{16} << 20;
std::map<void *, std::size_t> mappings;

cudaStream_t streamOf(int number) {
  return reinterpret_cast<cudaStream_t>(static_cast<std::uintptr_t>(number));
}

} // namespace

cudaError_t cudaDriverGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  *properties = {};
  std::strcpy(properties->name, "host");
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total) {
  *free = *total = std::size_t{1} << 40;
  return cudaSuccess;
}

/// Small ones hold no numbers, so that what is read before it is written shows.
cudaError_t cudaMalloc(void **data, std::size_t bytes) {
  if (bytes >= large) {
    *data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (*data == MAP_FAILED)
      return cudaErrorMemoryAllocation;
    mappings[*data] = bytes;
    return cudaSuccess;
  }
  *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!*data)
    return cudaErrorMemoryAllocation;
  std::memset(*data, 0xFF, bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void *data) {
  if (auto found = mappings.find(data); found != mappings.end()) {
    munmap(data, found->second);
    mappings.erase(found);
  } else {
    std::free(data);
  }
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void **data, std::size_t bytes) { return cudaMalloc(data, bytes); }
cudaError_t cudaFreeHost(void *data) { return cudaFree(data); }

cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  if (!stream)
    return cudaErrorInvalidResourceHandle; // the backend has streams of its own
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream) {
  if (!stream)
    return cudaErrorInvalidResourceHandle;
  if (auto found = mappings.find(to);
      value == 0 && found != mappings.end() && found->second == bytes) {
    madvise(to, bytes, MADV_DONTNEED); // zeros, and no memory
    return cudaSuccess;
  }
  std::memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = streamOf(++streamsOpen);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t) { return "an error of the host's runtime"; }

// cudaMalloc and cudaFree.
#include "runtime/cuda/DeviceMemory.h"

#include "runtime/cuda/Check.h"

namespace syncline::cuda {

DeviceMemory::DeviceMemory(std::int64_t bytes) : size(bytes > 0 ? bytes : 0) {
  if (size > 0) {
    void *data = nullptr;
    check(cudaMalloc(&data, static_cast<std::size_t>(size)), "cudaMalloc");
    begin = static_cast<std::byte *>(data);
  }
}

DeviceMemory::~DeviceMemory() {
  if (begin)
    cudaFree(begin);
}

} // namespace syncline::cuda

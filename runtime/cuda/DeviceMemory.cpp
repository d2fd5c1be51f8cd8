// CUDA's allocations and NCCL's.
#include "runtime/cuda/DeviceMemory.h"

#include "runtime/cuda/Nccl.h"

namespace syncline::cuda {

namespace {

void *allocate(std::size_t bytes, MemoryUse use) {
  void *data = nullptr;
  switch (use) {
  case MemoryUse::computation:
    check(cudaMalloc(&data, bytes), "cudaMalloc");
    break;
  case MemoryUse::messages:
    const ncclResult_t status = ncclMemAlloc(&data, bytes);
    cudaGetLastError();
    // NCCL does not say which error of CUDA's it met; of an allocation it is this one.
    if (status == ncclUnhandledCudaError)
      throw Failure{ErrorKind::badInput, "ncclMemAlloc: out of memory"};
    check(status, "ncclMemAlloc");
    break;
  }
  return data;
}

} // namespace

DeviceMemory::DeviceMemory(std::int64_t bytes, MemoryUse use)
    : size(bytes > 0 ? bytes : 0), use(use) {
  if (size > 0)
    begin = static_cast<std::byte *>(allocate(static_cast<std::size_t>(size), use));
}

DeviceMemory::~DeviceMemory() {
  if (!begin)
    return;
  switch (use) {
  case MemoryUse::computation:
    cudaFree(begin);
    break;
  case MemoryUse::messages:
    ncclMemFree(begin);
    break;
  }
}

} // namespace syncline::cuda

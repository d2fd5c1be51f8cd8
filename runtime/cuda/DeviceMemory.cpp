// Allocating by CUDA or by NCCL.
#include "runtime/cuda/DeviceMemory.h"

#include "runtime/cuda/nccl/Nccl.h"

namespace syncline::cuda {

namespace {

/// Allocates memory. `use` is changed to that of the memory obtained.
void *allocate(std::size_t bytes, MemoryUse &use) {
  void *data = nullptr;
  if (use == MemoryUse::messages) {
    const ncclResult_t status = ncclMemAlloc(&data, bytes);
    cudaGetLastError();
    if (status != ncclUnhandledCudaError) {
      check(status, "ncclMemAlloc");
      return data;
    }
    // NCCL does not report which CUDA error it met, so CUDA's own allocation is tried. It fails
    // where memory is short. Where memory only cannot be shared, as in some containers, ordinary
    // memory carries messages too.
    use = MemoryUse::computation;
  }
  SYNCLINE_CHECK(cudaMalloc(&data, bytes));
  return data;
}

} // namespace

DeviceMemory::DeviceMemory(std::int64_t bytes, MemoryUse use)
    : size(bytes > 0 ? bytes : 0), use(use) {
  if (size > 0)
    begin = static_cast<std::byte *>(allocate(static_cast<std::size_t>(size), this->use));
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

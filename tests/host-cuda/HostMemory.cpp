// CUDA's memory on the host, and copies within it.
#include "tests/host-cuda/Capture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace syncline::hostcuda;

namespace {

constexpr int host = -1; ///< a device's number, of memory that is the host's

struct Allocation {
  std::size_t bytes;
  int device;
};

/// Lives as long as the process.
struct Allocations {
  std::mutex mutex;
  std::map<void *, Allocation> all;
};
Allocations &allocations() {
  static auto *instance = new Allocations;
  return *instance;
}

/// From here on memory is only backed once touched: the spaces of a test are mostly empty.
constexpr std::size_t large = std::size_t{16} << 20;

std::size_t totalMemory() { return setting("SYNCLINE_HOST_CUDA_MEMORY", std::uint64_t{1} << 40); }

std::size_t usedMemory(const Allocations &own, int device) {
  std::size_t used = 0;
  for (const auto &[data, allocation] : own.all)
    used += allocation.device == device ? allocation.bytes : 0;
  return used;
}

constexpr int noNumber = 0xFF; ///< the byte that memory holds at first

/// A file of `large` bytes that are no numbers; -1 where there are no such files.
int makePattern() {
  const int file = memfd_create("host-cuda", MFD_CLOEXEC);
  const std::vector<char> bytes(large, static_cast<char>(noNumber));
  for (std::size_t done = 0; file >= 0 && done < large;) {
    const ssize_t written = write(file, bytes.data() + done, large - done);
    if (written <= 0)
      return -1;
    done += static_cast<std::size_t>(written);
  }
  return file;
}

/// `bytes` bytes of zeros, at `at` unless it is null; null where there are none.
void *mapZeros(void *at, std::size_t bytes) {
  const int fixed = at ? MAP_FIXED : 0;
  void *data = mmap(at, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  return data == MAP_FAILED ? nullptr : data;
}

/// Many views of one file. What is written becomes the allocation's own, page by page.
void *mapPattern(std::size_t bytes) {
  static const int file = makePattern();
  auto *const data = static_cast<std::byte *>(mapZeros(nullptr, bytes));
  for (std::size_t at = 0; data && file >= 0 && at < bytes; at += large)
    mmap(data + at, std::min(large, bytes - at), PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, file, 0);
  return data;
}

/// Memory holds no numbers, so that what is read before it is written shows.
void *allocate(std::size_t bytes) {
  if (bytes >= large)
    return mapPattern(bytes);
  void *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (data)
    std::memset(data, noNumber, bytes);
  return data;
}

cudaError_t allocate(void **data, std::size_t bytes, int device) {
  {
    std::lock_guard hold(runtimeLock());
    if (cudaError_t error = checkUnsafe())
      return said(error);
  }
  if (cudaError_t error = broken())
    return said(error);
  Allocations &own = allocations();
  std::lock_guard hold(own.mutex);
  if (device != host && bytes > totalMemory() - std::min(totalMemory(), usedMemory(own, device)))
    return said(cudaErrorMemoryAllocation);
  *data = bytes ? allocate(bytes) : nullptr;
  if (bytes && !*data)
    return said(cudaErrorMemoryAllocation);
  if (*data)
    own.all[*data] = {bytes, device};
  return cudaSuccess;
}

/// Waits for the device first, as CUDA does.
cudaError_t release(void *data, bool isHost) {
  if (!data)
    return cudaSuccess;
  {
    std::lock_guard hold(runtimeLock());
    if (cudaError_t error = checkUnsafe())
      return said(error);
  }
  drainDevice();
  Allocations &own = allocations();
  std::lock_guard hold(own.mutex);
  const auto found = own.all.find(data);
  if (found == own.all.end() || (found->second.device == host) != isHost)
    return said(cudaErrorInvalidValue);
  if (found->second.bytes >= large)
    munmap(data, found->second.bytes);
  else
    std::free(data);
  own.all.erase(found);
  return cudaSuccess;
}

/// Zeros that take no memory, where they fill an allocation that is large.
void fill(void *to, int value, std::size_t bytes) {
  Allocations &own = allocations();
  std::unique_lock hold(own.mutex);
  const auto found = own.all.find(to);
  const bool isWhole = found != own.all.end() && found->second.bytes == bytes;
  hold.unlock();
  if (value == 0 && isWhole && bytes >= large)
    mapZeros(to, bytes);
  else
    std::memset(to, value, bytes);
}

} // namespace

namespace syncline::hostcuda {

bool isAllocated(const void *data, std::size_t bytes) {
  Allocations &own = allocations();
  std::lock_guard hold(own.mutex);
  auto found = own.all.upper_bound(const_cast<void *>(data));
  if (found == own.all.begin())
    return false;
  --found;
  const auto *begin = static_cast<const std::byte *>(found->first);
  return static_cast<const std::byte *>(data) + bytes <= begin + found->second.bytes;
}

} // namespace syncline::hostcuda

cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total) {
  Allocations &own = allocations();
  std::lock_guard hold(own.mutex);
  *total = totalMemory();
  *free = *total - std::min(*total, usedMemory(own, currentDevice()));
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **data, std::size_t bytes) {
  return allocate(data, bytes, currentDevice());
}
cudaError_t cudaFree(void *data) { return release(data, false); }
cudaError_t cudaMallocHost(void **data, std::size_t bytes) { return allocate(data, bytes, host); }
cudaError_t cudaHostAlloc(void **data, std::size_t bytes, unsigned) {
  return allocate(data, bytes, host);
}
cudaError_t cudaFreeHost(void *data) { return release(data, true); }
cudaError_t cudaHostGetDevicePointer(void **device, void *data, unsigned) {
  *device = data;
  return cudaSuccess;
}

/// The source is read at the stream's turn, pinned or not.
cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return enqueue(stream, [=] { std::memmove(to, from, bytes); });
}

cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream) {
  return enqueue(stream, [=] { fill(to, value, bytes); });
}

/// Streams here do not wait for the null stream, nor it for them.
cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind) {
  {
    std::lock_guard hold(runtimeLock());
    if (cudaError_t error = checkUnsafe())
      return said(error);
  }
  std::memmove(to, from, bytes);
  return said(broken());
}

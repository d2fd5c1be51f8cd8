// Allocations of device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace syncline::cuda {

enum class MemoryUse {
  computation,
  messages, ///< allocated by ncclMemAlloc, so that NCCL need not copy messages
};

/// Owns one allocation on the current device, aligned to 256 bytes and uninitialised. Throws
/// Failure when memory is short.
class DeviceMemory {
public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::int64_t bytes, MemoryUse use = MemoryUse::computation);
  DeviceMemory(DeviceMemory &&other) noexcept { swap(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceMemory();

  std::byte *data() const { return begin; }
  std::int64_t bytes() const { return size; }
  bool holds(const void *address) const {
    const auto *const at = static_cast<const std::byte *>(address);
    return begin && !std::less<>()(at, begin) && std::less<>()(at, begin + size);
  }

private:
  void swap(DeviceMemory &other) {
    std::swap(begin, other.begin);
    std::swap(size, other.size);
    std::swap(use, other.use);
  }

  std::byte *begin = nullptr;
  std::int64_t size = 0;
  MemoryUse use = MemoryUse::computation;
};

} // namespace syncline::cuda

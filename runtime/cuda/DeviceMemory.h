// Memory of the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace syncline::cuda {

enum class MemoryUse {
  computation,
  messages, ///< also NCCL's, which then need not copy them: by ncclMemAlloc
};

/// Owns one allocation of the current device, aligned to 256 bytes. Its contents are whatever was
/// there. Throws Failure where there is no memory.
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

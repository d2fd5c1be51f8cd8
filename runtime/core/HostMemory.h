// Zeroed, page-aligned host memory. The system backs a page when it is first touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace syncline::core {

/// Owns one anonymous mapping, or is a part of another's. A mapping of at least 2 MiB is aligned to
/// 2 MiB, so that the kernel may back it with huge pages: a step walks hundreds of megabytes, and
/// page faults and translation misses would cost noticeable time.
class HostMemory {
public:
  HostMemory() = default;
  /// Maps `bytes` zeroed bytes. isValid() is false when the system refuses.
  explicit HostMemory(std::int64_t bytes);
  /// The first `bytes` bytes of another's mapping, which outlives this object.
  static HostMemory partOf(const HostMemory &whole, std::int64_t bytes) {
    HostMemory part;
    part.begin = whole.begin;
    part.size = bytes;
    return part;
  }
  HostMemory(HostMemory &&other) noexcept { swap(other); }
  HostMemory &operator=(HostMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~HostMemory();

  bool isValid() const { return begin || size == 0; }
  std::byte *data() const { return begin; }
  std::int64_t bytes() const { return size; }

private:
  void swap(HostMemory &other) {
    std::swap(mapping, other.mapping);
    std::swap(mapped, other.mapped);
    std::swap(begin, other.begin);
    std::swap(size, other.size);
  }

  void *mapping = nullptr;
  std::size_t mapped = 0;
  std::byte *begin = nullptr;
  std::int64_t size = 0;
};

} // namespace syncline::core

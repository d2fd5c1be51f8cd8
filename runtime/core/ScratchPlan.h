// Memory that operations share: each takes places in it, which the next one's may overlay.
#pragma once

#include <algorithm>
#include <cstdint>

namespace syncline {

class ScratchPlan {
public:
  /// Every place begins at a multiple of `alignment`, in bytes.
  explicit ScratchPlan(std::int64_t alignment) : alignment(alignment) {}

  /// A place for the operation that is being prepared: its offset.
  std::int64_t reserve(std::int64_t bytes) {
    const std::int64_t offset = used;
    used += (bytes + alignment - 1) / alignment * alignment;
    most = std::max(most, used);
    return offset;
  }
  /// Starts the next operation.
  void reset() { used = 0; }
  /// What the operation with the most places needs.
  std::int64_t bytes() const { return most; }

private:
  std::int64_t alignment;
  std::int64_t used = 0, most = 0;
};

} // namespace syncline

// Layout of the scratch memory that operations share. Each operation reserves places in it, and the
// next operation reuses the same bytes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace syncline::core {

class ScratchPlan {
public:
  /// Every place begins at a multiple of `alignment` bytes.
  explicit ScratchPlan(std::int64_t alignment) : alignment(alignment) {}

  /// Reserves a place for the operation that is being prepared and returns its offset.
  std::int64_t reserve(std::int64_t bytes) {
    const std::int64_t offset = used;
    used += (bytes + alignment - 1) / alignment * alignment;
    most = std::max(most, used);
    return offset;
  }
  /// Starts the next operation.
  void reset() { used = 0; }
  /// The bytes that the operation with the largest scratch needs.
  std::int64_t bytes() const { return most; }

private:
  std::int64_t alignment;
  std::int64_t used = 0, most = 0;
};

} // namespace syncline::core

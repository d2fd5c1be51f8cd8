// Placement of buffers in one space by lifetime: the smaller the space, the less memory a step
// needs.
#pragma once

#include <cstdint>
#include <vector>

namespace syncline::lower {

/// A buffer that holds `bytes` from operation `first` to operation `last`, both inclusive.
struct Buffer {
  std::int64_t first = 0, last = 0;
  std::int64_t bytes = 0;
};

struct Placement {
  std::vector<std::int64_t> offsets; ///< one a buffer
  std::int64_t bytes = 0;            ///< end of the highest buffer
};

/// Offsets such that buffers whose lifetimes overlap do not overlap in space. Tries several orders
/// (longest-lived, largest, largest product of the two, first first), puts each buffer into the
/// lowest gap that fits, and keeps the smallest result; stops early at liveBytes(). The problem is
/// NP-hard (dynamic storage allocation), so the result may exceed the bound; on training steps it
/// is within a few percent. Deterministic; quadratic in the number of buffers.
/// Precondition: first <= last and bytes >= 0 for every buffer.
Placement place(const std::vector<Buffer> &buffers);

/// The most bytes that are alive at one operation: no placement is smaller.
std::int64_t liveBytes(const std::vector<Buffer> &buffers);

} // namespace syncline::lower

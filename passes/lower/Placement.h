// Places buffers in one space by their lifetimes. A smaller space means less memory for a step.
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
  std::vector<std::int64_t> offsets; ///< one offset for each buffer, bytes
  std::int64_t bytes = 0;            ///< end of the highest buffer
};

/// Puts the buffers, in this order of their indices, each into the lowest gap between those before
/// it that are alive with it. Empty buffers lie at 0.
Placement firstFit(const std::vector<Buffer> &buffers, const std::vector<std::size_t> &order);

/// Chooses offsets such that buffers whose lifetimes overlap do not overlap in space. It tries
/// several orders (longest-lived, largest, largest product of the two, first by begin, last by
/// end), puts each buffer into the lowest gap that fits, and keeps the smallest result; it stops
/// early at liveBytes(). The problem is NP-hard (dynamic storage allocation), so the result may
/// exceed that bound; on training steps it is within a few percent. Deterministic; n log² n for n
/// buffers that lie side by side, more where they leave many gaps. Precondition: first <= last and
/// bytes >= 0 for every buffer.
Placement place(const std::vector<Buffer> &buffers);

/// The maximum number of bytes that are alive at one operation; no placement is smaller.
std::int64_t liveBytes(const std::vector<Buffer> &buffers);

} // namespace syncline::lower

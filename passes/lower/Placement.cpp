// First fit, tried in several orders.
#include "passes/lower/Placement.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace syncline::lower {

namespace {

using Order = std::function<bool(const Buffer &, const Buffer &)>;

std::int64_t length(const Buffer &buffer) { return buffer.last - buffer.first + 1; }

bool overlapInTime(const Buffer &a, const Buffer &b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Puts buffers, in this order, into the lowest gap between the buffers placed before.
Placement firstFit(const std::vector<Buffer> &buffers, const std::vector<std::size_t> &order) {
  Placement result;
  result.offsets.assign(buffers.size(), 0);
  std::vector<std::size_t> placed; // ordered by offset
  placed.reserve(buffers.size());
  for (std::size_t index : order) {
    const Buffer &buffer = buffers[index];
    if (buffer.bytes == 0)
      continue;
    std::int64_t offset = 0;
    for (std::size_t other : placed) {
      if (!overlapInTime(buffer, buffers[other]))
        continue;
      if (result.offsets[other] >= offset + buffer.bytes)
        break;
      offset = std::max(offset, result.offsets[other] + buffers[other].bytes);
    }
    result.offsets[index] = offset;
    result.bytes = std::max(result.bytes, offset + buffer.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](std::int64_t at, std::size_t other) {
                                     return at < result.offsets[other];
                                   }),
                  index);
  }
  return result;
}

} // namespace

std::int64_t liveBytes(const std::vector<Buffer> &buffers) {
  std::map<std::int64_t, std::int64_t> change;
  for (const Buffer &buffer : buffers) {
    change[buffer.first] += buffer.bytes;
    change[buffer.last + 1] -= buffer.bytes;
  }
  std::int64_t live = 0, most = 0;
  for (const auto &[operation, bytes] : change)
    most = std::max(most, live += bytes);
  return most;
}

Placement place(const std::vector<Buffer> &buffers) {
  // Longest-lived first suits a training step: activations wait for backward like a stack.
  const Order orders[] = {
      [](const Buffer &a, const Buffer &b) { return length(a) > length(b); },
      [](const Buffer &a, const Buffer &b) { return a.bytes > b.bytes; },
      [](const Buffer &a, const Buffer &b) { return a.bytes * length(a) > b.bytes * length(b); },
      [](const Buffer &a, const Buffer &b) { return a.first < b.first; },
      [](const Buffer &a, const Buffer &b) { return a.last > b.last; },
  };
  const std::int64_t bound = liveBytes(buffers);
  Placement best;
  bool isFirst = true;
  for (const Order &order : orders) {
    std::vector<std::size_t> indices(buffers.size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    std::stable_sort(indices.begin(), indices.end(),
                     [&](std::size_t a, std::size_t b) { return order(buffers[a], buffers[b]); });
    Placement candidate = firstFit(buffers, indices);
    if (isFirst || candidate.bytes < best.bytes)
      best = std::move(candidate);
    isFirst = false;
    if (best.bytes == bound)
      break;
  }
  return best;
}

} // namespace syncline::lower

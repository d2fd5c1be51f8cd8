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

/// Parts of the space, apart from each other: those that touch are one.
class Spans {
public:
  void add(std::int64_t begin, std::int64_t end) {
    auto next = ends.upper_bound(begin);
    if (next != ends.begin() && std::prev(next)->second >= begin)
      begin = (--next)->first;
    for (; next != ends.end() && next->first <= end; next = ends.erase(next))
      end = std::max(end, next->second);
    ends.emplace_hint(next, begin, end);
  }

  /// Where the lowest span ends that `bytes` at `offset` would overlap; `offset` if there is none.
  std::int64_t behind(std::int64_t offset, std::int64_t bytes) const {
    const auto next = ends.upper_bound(offset);
    if (next != ends.begin() && std::prev(next)->second > offset)
      return std::prev(next)->second;
    return next != ends.end() && next->first < offset + bytes ? next->second : offset;
  }

  bool empty() const { return ends.empty(); }

private:
  std::map<std::int64_t, std::int64_t> ends; ///< by begin
};

/// The space that placed buffers take, by time: a segment tree over the moments at which a lifetime
/// begins or ends. Buffers that lie side by side are one span, however many they are.
class TakenSpace {
public:
  explicit TakenSpace(const std::vector<Buffer> &buffers) {
    for (const Buffer &buffer : buffers)
      moments.insert(moments.end(), {buffer.first, buffer.last});
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    while (leaves < moments.size())
      leaves *= 2;
    throughout.resize(2 * leaves);
    within.resize(2 * leaves);
  }

  void add(const Buffer &buffer, std::int64_t offset) {
    const std::int64_t end = offset + buffer.bytes;
    forCover(buffer, [&](std::size_t node) {
      throughout[node].add(offset, end);
      within[node].add(offset, end);
    });
    forPaths(buffer, [&](std::size_t node) { within[node].add(offset, end); });
  }

  /// The lowest offset at which the buffer overlaps nothing that is alive with it.
  std::int64_t lowestGap(const Buffer &buffer) {
    met.clear();
    const auto meet = [&](const Spans &spans) {
      if (!spans.empty())
        met.push_back(&spans);
    };
    forCover(buffer, [&](std::size_t node) { meet(within[node]); });
    forPaths(buffer, [&](std::size_t node) { meet(throughout[node]); });
    std::int64_t offset = 0;
    // Until all of them leave the place free, one after the other.
    for (std::size_t free = 0, i = 0; free < met.size(); i = (i + 1) % met.size()) {
      const std::int64_t behind = met[i]->behind(offset, buffer.bytes);
      free = behind == offset ? free + 1 : 0;
      offset = behind;
    }
    return offset;
  }

private:
  std::size_t leafOf(std::int64_t moment) const {
    return leaves + static_cast<std::size_t>(
                        std::lower_bound(moments.begin(), moments.end(), moment) - moments.begin());
  }

  /// The largest nodes whose moments are all in the buffer's lifetime.
  template <typename Function> void forCover(const Buffer &buffer, Function function) const {
    std::size_t low = leafOf(buffer.first), high = leafOf(buffer.last) + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1)
        function(low++);
      if (high % 2 == 1)
        function(--high);
    }
  }

  /// The nodes that have the first or last moment of the buffer's lifetime.
  template <typename Function> void forPaths(const Buffer &buffer, Function function) const {
    std::size_t low = leafOf(buffer.first), high = leafOf(buffer.last);
    for (; low > 0; low /= 2, high /= 2) {
      function(low);
      if (high != low)
        function(high);
    }
  }

  std::vector<std::int64_t> moments;
  std::size_t leaves = 1;
  std::vector<Spans> throughout; ///< by node: of buffers that live through all its moments
  std::vector<Spans> within;     ///< of buffers that live at one of its moments
  std::vector<const Spans *> met;
};

} // namespace

Placement firstFit(const std::vector<Buffer> &buffers, const std::vector<std::size_t> &order) {
  Placement result;
  result.offsets.assign(buffers.size(), 0);
  TakenSpace taken(buffers);
  for (std::size_t index : order) {
    const Buffer &buffer = buffers[index];
    if (buffer.bytes == 0)
      continue;
    const std::int64_t offset = taken.lowestGap(buffer);
    taken.add(buffer, offset);
    result.offsets[index] = offset;
    result.bytes = std::max(result.bytes, offset + buffer.bytes);
  }
  return result;
}

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

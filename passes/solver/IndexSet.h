// IndexSet: a growing set of small integers that finds neighbours fast.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace syncline::solver {

/// A subset of [0, size), stored as bits in words. A bit of the level above marks each word that is
/// not empty, so every operation takes O(log64 size). Not thread-safe.
class IndexSet {
public:
  explicit IndexSet(std::size_t size) {
    do {
      size = size / 64 + 1;
      levels.emplace_back(size, 0);
    } while (size > 1);
  }

  /// Precondition: index < size.
  void insert(std::size_t index) {
    for (auto &level : levels) {
      level[index / 64] |= std::uint64_t{1} << (index % 64);
      index /= 64;
    }
  }

  /// The smallest member >= index.
  std::optional<std::size_t> firstFrom(std::size_t index) const {
    for (std::size_t depth = 0; depth < levels.size(); ++depth) {
      const auto &level = levels[depth];
      if (index / 64 >= level.size())
        return std::nullopt;
      std::uint64_t word = level[index / 64] >> (index % 64);
      if (word != 0)
        return descend(depth, index + std::countr_zero(word), std::countr_zero<std::uint64_t>);
      index = index / 64 + 1;
    }
    return std::nullopt;
  }

  /// The largest member < index. Precondition: index <= size.
  std::optional<std::size_t> lastBelow(std::size_t index) const {
    for (std::size_t depth = 0; depth < levels.size() && index > 0; ++depth) {
      std::size_t last = index - 1;
      std::uint64_t word = levels[depth][last / 64] << (63 - last % 64);
      if (word != 0)
        return descend(depth, last - std::countl_zero(word), highestBit);
      index = last / 64;
    }
    return std::nullopt;
  }

private:
  static int highestBit(std::uint64_t word) { return 63 - std::countl_zero(word); }

  /// Descends from a set bit of a level to the member below it on the wanted side.
  template <typename Pick>
  std::size_t descend(std::size_t depth, std::size_t index, Pick pick) const {
    while (depth-- > 0)
      index = index * 64 + static_cast<std::size_t>(pick(levels[depth][index]));
    return index;
  }

  std::vector<std::vector<std::uint64_t>> levels;
};

} // namespace syncline::solver

// Buckets that come again for every block of a network.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <vector>

namespace syncline::report {

/// The `period` buckets from `first` on come `count` times, one time after the other: with the same
/// bytes and scheme, and names that differ in numbers only.
struct Repeat {
  std::size_t first, period, count;

  std::size_t size() const { return period * count; }
};

/// Repeats of 4 times or more in a plan's "buckets", in ascending order and without overlap: at
/// each place the one that covers most buckets, of these the one of the shortest period, which is
/// 64 buckets at most. Throws as nlohmann::json does where buckets do not follow the schema.
std::vector<Repeat> repeatsOf(const nlohmann::json &buckets);

} // namespace syncline::report

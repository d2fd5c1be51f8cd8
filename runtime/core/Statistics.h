// Statistics of measured values.
#pragma once

#include <algorithm>
#include <vector>

namespace syncline::core {

/// The middle value; the mean of the two middle values when their number is even; 0 for no values.
inline double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1)
    return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

} // namespace syncline::core

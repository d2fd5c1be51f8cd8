// By sorting: reports have few values.
#include "frontend/report/Median.h"

#include <algorithm>

namespace syncline::report {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

} // namespace syncline::report

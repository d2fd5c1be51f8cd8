// The middle of several measurements.
#pragma once

#include <vector>

namespace syncline::report {

/// Of an even number the mean of the middle two; 0 of none.
double median(std::vector<double> values);

} // namespace syncline::report

// The weights that '--loss cross-entropy:weights=FILE' names.
#pragma once

#include "syncline/Status.h"

#include <string>
#include <vector>

namespace syncline::driver {

/// Reads one number a class, rounded to float32 as the step computes with it: a .npy file of
/// float32 or float64, or a .csv file of one line or one column. Errors: badInput, naming the file
/// and the element.
Result<std::vector<double>> readClassWeights(const std::string &path);

} // namespace syncline::driver

// Refuses what contradicts `compile --split-tied always`.
#pragma once

#include "frontend/driver/Compile.h"

namespace syncline::driver {

/// Whether a plan with these options can have gradients in two parts; ok unless they ask for that.
/// Errors: badUsage. Models without such gradients are refused once the backward pass is known.
Status checkSplitTied(const CompileOptions &options);

} // namespace syncline::driver

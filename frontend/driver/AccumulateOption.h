// Refuses what contradicts `compile --accumulate`.
#pragma once

#include "frontend/driver/Compile.h"

namespace syncline::driver {

/// Whether a plan with these options can have steps of several batches; ok for one batch. Errors:
/// badUsage.
Status checkAccumulation(const CompileOptions &options);

} // namespace syncline::driver

// Refuses what contradicts `compile --clip-norm`.
#pragma once

#include "frontend/driver/Compile.h"

namespace syncline::driver {

/// Whether a plan with these options can clip gradients by the norm of all of them; ok without a
/// norm. Errors: badUsage. Messages by reduce-scatter are refused once the pipeline knows them.
Status checkClipping(const CompileOptions &options);

} // namespace syncline::driver

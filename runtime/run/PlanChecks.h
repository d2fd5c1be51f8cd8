// Whether a plan can be carried out as it says: plan.json against itself, and against step.so.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/run/Plan.h"

namespace syncline {

/// Whether input, target and output hold `batch` samples each, as many targets as the loss compares
/// with outputs, and a classifier's output its classes. Errors: badInput, naming plan.json.
Status checkSamples(const Plan &plan);

/// Ranks compute by step.so; what they read, write, sum and report they know from plan.json, and a
/// server knows nothing else. Whether both have the same input, target, output, parameters and
/// buckets: ids, channels, schemes, bytes, members and their types, and of served buckets the order
/// of issue. States that no operation uses may be missing in step.so. Errors: badInput, naming what
/// differs.
Status checkStep(const Plan &plan, const Executable &executable);

} // namespace syncline

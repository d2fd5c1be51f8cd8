// Checks that plan.json is consistent in itself and with step.so.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/run/plan/Plan.h"

namespace syncline::run {

/// Ok when input, target and output hold `batch` samples each, there are as many targets as the
/// loss compares with outputs, and a classifier's output has a dimension for the classes. Errors:
/// badInput, naming plan.json.
Status checkSamples(const Plan &plan);

/// Ok when plan.json and step.so agree in input, target, output and parameters, in the buckets'
/// ids, channels, schemes, bytes, members and member types, and in the issue order of buckets that
/// go to dedicated servers. The check is needed because ranks compute by step.so but read, write,
/// sum and report by plan.json, and servers have plan.json alone. States that no operation uses may
/// be missing in step.so. Errors: badInput, naming the difference.
Status checkStep(const Plan &plan, const core::Executable &executable);

} // namespace syncline::run

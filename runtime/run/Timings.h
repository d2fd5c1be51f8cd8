// The table of `--timings`.
#pragma once

#include "runtime/core/StepRunner.h"
#include "runtime/run/Plan.h"
#include "runtime/run/Trainer.h"

namespace syncline::run {

/// Prints median milliseconds of every operation, slowest first, and of every bucket.
void printTimings(const Plan &plan, const core::StepRunner &runner, const Trainer &trainer);

} // namespace syncline::run

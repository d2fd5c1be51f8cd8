// `syncline inspect PLAN --measured TRACE`.
#pragma once

#include "frontend/report/MeasuredReport.h"

#include <optional>
#include <string>

namespace syncline::driver {

/// The plan of `folder` beside a trace of its run; hints from `tolerance` on. badInput where either
/// cannot be read, or the trace is of another plan.
Result<report::Comparison> measurePlan(const std::string &folder, const std::string &trace,
                                       double tolerance);

/// 0.05 of "5%", "5 %" or "0.05". Errors: badUsage, naming `option`.
Result<double> parseFraction(const std::string &text, const std::string &option);

} // namespace syncline::driver

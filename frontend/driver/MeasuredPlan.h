// `syncline inspect PLAN --measured TRACE`.
#pragma once

#include "frontend/report/MeasuredReport.h"

#include <optional>
#include <string>

namespace syncline::driver {

/// Compares the plan of `folder` with a trace of its run. Errors above `tolerance`, a fraction, get
/// hints. badInput where either cannot be read, or the trace belongs to another plan.
Result<report::Comparison> measurePlan(const std::string &folder, const std::string &trace,
                                       double tolerance);

/// Reads "5%", "5 %" or "0.05" as 0.05. Errors: badUsage, naming `option`.
Result<double> parseFraction(const std::string &text, const std::string &option);

} // namespace syncline::driver

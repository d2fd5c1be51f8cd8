// Which requests of `syncline compile` no plan can fulfil together: one table, of which the error,
// the end of the help and a test of README.md's table are made.
#pragma once

#include "frontend/driver/Compile.h"

#include <functional>
#include <string>

namespace syncline::driver {

/// Whether the command line names an option, such as "--overlap", also with its default.
using IsGiven = std::function<bool(const std::string &option)>;

/// Errors: badUsage for the first two requests that exclude each other, with the reason. Each
/// form of consistency is checked.
Status checkExclusions(const CompileOptions &options, const IsGiven &isGiven);

/// All exclusions for the help, "  REQUEST: REQUEST, REQUEST" for each request on the left. Lines
/// have at most 100 columns.
std::string exclusionText();

} // namespace syncline::driver

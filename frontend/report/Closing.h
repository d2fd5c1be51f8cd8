// The lines that `compile` ends with.
#pragma once

#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// What was written into `folder`: messages, bytes, predicted step, gap to the proved bound; and
/// what comes next. badInput where `plan` does not follow its schema.
Result<std::string> compileClosing(const nlohmann::json &plan, const std::string &folder);

} // namespace syncline::report

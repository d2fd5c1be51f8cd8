// The lines that `compile` ends with.
#pragma once

#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// Says what `folder` now holds (messages, bytes, predicted step, gap to the proved bound) and
/// which command comes next. Errors: badInput where `plan` does not follow its schema.
Result<std::string> compileClosing(const nlohmann::json &plan, const std::string &folder);

} // namespace syncline::report

// `syncline inspect PLAN --why LAYER`.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline::driver {

/// Explains why a gradient travels as it does in the plan of `folder`; findGradient says which
/// gradient `name` means. Reads plan.mlir alone and checks its hash. Errors: badInput where the
/// folder is no plan, its files were changed, or the name means no gradient or several.
Result<std::string> whyGradient(const std::string &folder, const std::string &name);

} // namespace syncline::driver

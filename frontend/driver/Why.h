// `syncline inspect PLAN --why LAYER`.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline::driver {

/// Why the gradient that `name` means (see findGradient) travels as it does in the plan of
/// `folder`, from plan.mlir alone, whose hash is checked. badInput where the folder is no plan, its
/// files were changed, or the name means no gradient or several.
Result<std::string> whyGradient(const std::string &folder, const std::string &name);

} // namespace syncline::driver

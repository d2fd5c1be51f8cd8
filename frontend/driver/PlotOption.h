// The option --plot, which `inspect` and `simulate` have.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline::driver {

/// badUsage where `path` ends as pictures do that are no SVG, such as ".png"; all other names pass.
Status expectSvgName(const std::string &path);

} // namespace syncline::driver

// The type in which gradients travel, by its name in the runtime.
#pragma once

#include "syncline/WirePrecision.h"

namespace syncline::core {

using syncline::WirePrecision;

} // namespace syncline::core

// The backend that a run asks for.
#pragma once

#include "runtime/core/Backend.h"

#include <string>

namespace syncline {

/// "cpu" is part of this program; any other is a module, loaded now and kept. Errors (badInput):
/// the module is not there, or this machine has not what it needs.
Result<const Backend *> openBackend(const std::string &name);

} // namespace syncline

// Opening the backend that the command line names.
#pragma once

#include "runtime/core/Backend.h"

#include <string>

namespace syncline::run {

/// Returns the backend of this name. "cpu" is part of the program; any other backend is a module,
/// which is loaded and stays loaded. Errors (badInput): the module is missing, or this machine
/// lacks what the backend needs.
Result<const core::Backend *> openBackend(const std::string &name);

} // namespace syncline::run

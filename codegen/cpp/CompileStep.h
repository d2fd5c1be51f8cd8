// Compiles a generated step into the shared object that the runtime loads.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline {

/// Compiles `source` into `object` with $CXX, or c++ when that is unset, against the runtime's
/// headers in `includeDirectory`. The object appears complete or not at all. Temporary files lie
/// in `object`'s folder. Errors: badInput when there is no compiler, when it compiles nothing at
/// all, or where there is no place to write; internal when it rejects the source, with its
/// messages, shortened.
Status compileStep(const std::string &source, const std::string &object,
                   const std::string &includeDirectory);

} // namespace syncline

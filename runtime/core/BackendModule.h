// Loads a backend that is a shared library of its own, so that programs depend on its device's
// libraries only when they are asked for it.
#pragma once

#include "runtime/core/Backend.h"

#include <string>

namespace syncline {

/// Changes whenever Backend.h or a header that it includes does so incompatibly.
inline constexpr int backendInterface = 5;

/// What a module exports, as "synclineBackend", with C linkage: its backend, which lives as long as
/// the process, or null where it was built for another interface.
using BackendEntry = const Backend *(*)(int interface);

/// Where the module of a backend is looked for: what the environment variable
/// SYNCLINE_<NAME>_BACKEND says, or else lib/libsyncline-<name>.so beside the folder of the running
/// program.
std::string backendModulePath(std::string_view name);

/// The backend in the module at `path`, which stays loaded. Errors (badInput) name the path and say
/// what is missing: the file, a library that it needs, or a module of this build.
Result<const Backend *> loadBackend(const std::string &path);

} // namespace syncline

// Loads a backend from a shared library. A program depends on a device's libraries only when that
// device's backend is requested.
#pragma once

#include "runtime/core/Backend.h"

#include <string>

namespace syncline::core {

/// Version of the interface between programs and modules. Raise it with every incompatible change
/// of Backend.h or of a header that Backend.h includes.
inline constexpr int backendInterface = 8;

/// The type of the function "synclineBackend" that a module exports with C linkage. It returns the
/// module's backend, which lives as long as the process, or null when the module was built for
/// another interface.
using BackendEntry = const Backend *(*)(int interface);

/// The path of a backend's module: the value of the environment variable SYNCLINE_<NAME>_BACKEND,
/// or else lib/libsyncline-<name>.so beside the folder of the running program.
std::string backendModulePath(std::string_view name);

/// Loads the module at `path` for the rest of the process and returns its backend. Errors
/// (badInput) name the path and what is missing: the file, a library that the module needs, or a
/// module of this build.
Result<const Backend *> loadBackend(const std::string &path);

} // namespace syncline::core

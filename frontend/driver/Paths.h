// Where this installation keeps what the command needs.
#pragma once

#include <filesystem>
#include <string>

namespace syncline::driver {

/// The folder of this executable; empty when the kernel does not say.
std::filesystem::path executableFolder();

/// The runtime's public headers: `../include` beside an installed command, otherwise the source
/// tree it was built from.
std::string runtimeIncludes();

} // namespace syncline::driver

// Options whose values are numbers by name.
#pragma once

#include "CLI/CLI.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace syncline::driver {

/// Adds an option of values NAME=N, with N of at least `least`, that are put into `numbers`, which
/// must outlive the parsing. `letter` stands for N in the help.
void addNamedNumbers(CLI::App &command, const std::string &option, const std::string &letter,
                     std::int64_t least, std::map<std::string, std::int64_t> &numbers,
                     const std::string &help);

} // namespace syncline::driver

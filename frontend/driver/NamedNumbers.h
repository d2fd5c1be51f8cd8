// Options whose values are numbers by name.
#pragma once

#include "CLI/CLI.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace syncline::driver {

/// Numbers by name, each name with one.
using NamedNumbers = std::map<std::string, std::int64_t>;
/// Takes a name's numbers. Returns what is wrong with them; empty for nothing.
using TakeNumbers =
    std::function<std::string(const std::string &name, const std::vector<std::int64_t> &numbers)>;

/// Adds an option of values NAME=N, with N of at least `least`, that are put into `numbers`, which
/// must outlive the parsing. `letter` stands for N in the help.
void addNamedNumbers(CLI::App &command, const std::string &option, const std::string &letter,
                     std::int64_t least, NamedNumbers &numbers, const std::string &help);

/// As above, for values NAME=N or NAME=N,N,.., which `take` takes.
void addNamedLists(CLI::App &command, const std::string &option, const std::string &letter,
                   std::int64_t least, const TakeNumbers &take, const std::string &help);

} // namespace syncline::driver

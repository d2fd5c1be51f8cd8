// mpirun's host file: which hosts there are and how many ranks each takes.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::files {

struct Host {
  std::string name;
  std::optional<std::int64_t> slots; ///< ranks, at least 1; nothing where the file says none
  std::size_t line = 0;              ///< line of the first mention, from 1
};

/// One host a line: 'name', 'name slots=N' (Open MPI, which may say 'max_slots' beside it) or
/// 'name:N' (MPICH). Comments begin with '#'. A host's slots add up over its lines, one where a
/// line says none. At least one host, in the order of the file; every failure is badInput with file
/// and line.
Result<std::vector<Host>> parseHostfile(std::string_view text, std::string_view fileName);

/// Reads and parses `path`, which may hold at most 4 MiB.
Result<std::vector<Host>> readHostfile(const std::string &path);

} // namespace syncline::files

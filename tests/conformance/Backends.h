// The compute backends that the conformance suite judges.
#pragma once

#include "runtime/core/Executable.h"

#include <ostream>
#include <string>
#include <vector>

namespace syncline::conformance {

struct Backend {
  std::string name;
  Result<std::unique_ptr<Executable>> (*create)(const ExecutableOptions &);
};

inline void PrintTo(const Backend &backend, std::ostream *stream) { *stream << backend.name; }

/// Every backend that this build has and this machine can run.
std::vector<Backend> backends();

} // namespace syncline::conformance

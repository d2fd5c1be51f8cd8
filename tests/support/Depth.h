// How thoroughly tests repeat themselves.
#pragma once

#include <cstdlib>

namespace syncline::test {

/// The number of repetitions of a test: of seeds, sizes or kills. It is `longRun` where
/// SYNCLINE_LONG is set and not empty, else `shortRun`.
inline int repeat(int shortRun, int longRun) {
  const char *isLong = std::getenv("SYNCLINE_LONG");
  return isLong && *isLong ? longRun : shortRun;
}

} // namespace syncline::test

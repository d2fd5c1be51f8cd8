// Traces in the trace event format, which `run --trace`, `simulate --trace` and torch.profiler
// write; times in seconds.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline::files {

/// A complete event ("ph": "X"). Seconds from wherever the file's clock begins.
struct TraceEvent {
  std::string name, category;       ///< category may be empty
  std::string process, thread;      ///< as text, whatever they are in the file
  std::optional<std::int64_t> rank; ///< the process, where it is a number
  double begin = 0, seconds = 0;
  double end() const { return begin + seconds; }

  // Arguments; empty or absent where the event has none.
  std::string layer, phase, scheme;
  std::optional<std::int64_t> step, bucket, bytes;
  std::optional<double> ready;                    ///< seconds
  std::optional<std::int64_t> sequence, external; ///< torch.profiler's numbers
};

struct ChromeTrace {
  std::string schema, plan, kind, name;     ///< of "otherData"; empty where there is none
  std::optional<std::int64_t> ranks, batch; ///< of "otherData"; absent where there is none
  double clockError = 0;                    ///< seconds
  std::vector<TraceEvent> events;           ///< sorted by begin, then the longest first
  /// How many complete events are broken, and so left out, and why the first one; empty where none
  /// is. For people, without the file's name.
  std::string leftOut;
};

/// Parses {"traceEvents": [...]} or the bare list, an event at a time. Events of other kinds are
/// left out, and so are broken ones. Numbers that JSON has not (NaN, Infinity) count as absent.
/// Errors: badInput, naming file and byte, where the text is no trace or is cut, and where all
/// complete events are broken or they are more than 2^24.
Result<ChromeTrace> parseChromeTrace(const std::string &text, const std::string &fileName);

/// Reads and parses `path`, which may be compressed by gzip.
Result<ChromeTrace> readChromeTrace(const std::string &path);

} // namespace syncline::files

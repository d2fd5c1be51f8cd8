// Events in the trace event format of Perfetto and chrome://tracing, one on each line.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace syncline::run {

/// Times are in seconds by rank 0's clock.
class TraceEvents {
public:
  using Json = nlohmann::ordered_json;
  /// A process and a thread of the trace.
  struct Track {
    int process = 0, thread = 0;
  };

  /// The events' times count from `zero`.
  explicit TraceEvents(double zero) : zero(zero) {}

  /// Microseconds, rounded to the nanosecond.
  static double microseconds(double seconds) { return std::round(seconds * 1e9) / 1e3; }
  double since(double time) const { return microseconds(time - zero); }

  void add(const Json &event) {
    lines +=
        (lines.empty() ? "" : ",\n") + event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  /// Names a process ("process_name") or a thread ("thread_name").
  void name(const char *what, Track track, const std::string &text) {
    add({{"ph", "M"},
         {"name", what},
         {"pid", track.process},
         {"tid", track.thread},
         {"args", {{"name", text}}}});
  }
  void complete(const char *category, const std::string &called, Track track, double begin,
                double end, Json args) {
    add({{"ph", "X"},
         {"cat", category},
         {"name", called},
         {"pid", track.process},
         {"tid", track.thread},
         {"ts", since(begin)},
         {"dur", microseconds(std::max(0.0, end - begin))},
         {"args", std::move(args)}});
  }
  const std::string &text() const { return lines; }

private:
  const double zero;
  std::string lines;
};

} // namespace syncline::run

// The switches of schedules.
#pragma once

#include "runtime/run/Schedule.h"

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace syncline::run {

/// `--schedule` and `--warmup` as the command line has them.
struct ScheduleFlags {
  std::string schedule = "constant";
  std::int64_t warmUp = 0; ///< steps
};

/// Adds the switches to the help's group of `--lr`, which is there already.
void addScheduleFlags(CLI::App &app, ScheduleFlags &flags);

/// The schedule, whose file is not read yet. Errors: badUsage.
Result<Schedule> scheduleOf(const ScheduleFlags &flags);

} // namespace syncline::run

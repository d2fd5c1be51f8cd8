// The switches of schedules, each with its default.
#include "runtime/run/options/ScheduleFlags.h"

#include "runtime/launch/CliChecks.h"

#include <CLI/CLI.hpp>

namespace syncline::run {

void addScheduleFlags(CLI::App &app, ScheduleFlags &flags) {
  const std::string group = app.get_option("--lr")->get_group();
  app.add_option("--schedule", flags.schedule,
                 "Change the learning rate as PyTorch's schedulers do: constant, "
                 "step:EVERY,FACTOR, cosine[:MIN], linear[:END], one-cycle[:UP[,DIV[,FINAL]]] up "
                 "to --lr and down again, or FILE.csv with lines STEP,RATE in place of --lr")
      ->type_name("S")
      ->capture_default_str()
      ->group(group);
  app.add_option("--warmup", flags.warmUp,
                 "Begin with N steps in which the rate rises linearly to --lr; the schedule "
                 "follows")
      ->check(launch::wholeNumber(0, "steps"))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
}

Result<Schedule> scheduleOf(const ScheduleFlags &flags) {
  SYNCLINE_TRY_GET(made, Schedule::parse(flags.schedule));
  SYNCLINE_TRY(made->warmUp(flags.warmUp));
  return made;
}

} // namespace syncline::run

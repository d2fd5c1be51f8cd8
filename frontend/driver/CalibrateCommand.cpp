// `syncline calibrate`: starts a program of the runtime, as `run` does.
#include "frontend/driver/Commands.h"

#include "CLI/CLI.hpp"

namespace syncline::driver {

Command addCalibrate(CLI::App &app) {
  CLI::App *calibrate = app.add_subcommand(
      "calibrate", "Measure ranks and write a cluster file; 'syncline calibrate --help' lists "
                   "options");
  calibrate->allow_extras();
  return [] { return Status::ok(); };
}

} // namespace syncline::driver

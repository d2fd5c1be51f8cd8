// `syncline run` and `calibrate`: the runtime's own programs, which need no compiler libraries.
#include "frontend/driver/Commands.h"
#include "frontend/files/Paths.h"
#include "runtime/launch/Identity.h"

#include "CLI/CLI.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace syncline::driver {

Command addRun(CLI::App &app) {
  CLI::App *run = app.add_subcommand("run", "Train by a plan; 'syncline run --help' lists options");
  run->allow_extras();
  return [] { return Status::ok(); };
}

Command addCalibrate(CLI::App &app) {
  CLI::App *calibrate = app.add_subcommand(
      "calibrate", "Measure ranks and write a cluster file; 'syncline calibrate --help' lists "
                   "options");
  calibrate->allow_extras();
  return [] { return Status::ok(); };
}

Status replaceBy(const std::string &command, const std::vector<std::string> &arguments) {
  std::string binary = (files::executableFolder() / ("syncline-" + command)).string();
  setenv(launch::commandVariable, ("syncline " + command).c_str(), 1);
  std::vector<char *> argv{binary.data()};
  std::vector<std::string> copies = arguments;
  for (std::string &argument : copies)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(binary.c_str(), argv.data());
  return Status::badInput("cannot start '" + binary + "': " + std::strerror(errno));
}

} // namespace syncline::driver

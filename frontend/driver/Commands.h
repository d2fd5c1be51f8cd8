// The command's subcommands. Each adds its options to the application and, once the line is parsed,
// does its work.
#pragma once

#include "syncline/Status.h"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace syncline::driver {

/// What a parsed subcommand does.
using Command = std::function<Status()>;

/// Each registers one subcommand of `app`. The caller calls the returned function if the command
/// line names that subcommand.
Command addCluster(CLI::App &app);
Command addCompile(CLI::App &app);
Command addInspect(CLI::App &app);
Command addProfile(CLI::App &app);
Command addVerify(CLI::App &app);
Command addSimulate(CLI::App &app);
/// These two only appear in the help: programs of the runtime parse their options and do the work.
Command addRun(CLI::App &app);
Command addCalibrate(CLI::App &app);

/// Replaces this process by the program of the runtime that carries out a command, which lies
/// beside this one: "run" by syncline-run. Returns only on failure.
Status replaceBy(const std::string &command, const std::vector<std::string> &arguments);

} // namespace syncline::driver

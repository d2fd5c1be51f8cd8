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

/// Each registers one subcommand of `app`; the returned function is called when that subcommand was
/// given.
Command addCluster(CLI::App &app);
Command addCompile(CLI::App &app);
Command addInspect(CLI::App &app);
Command addVerify(CLI::App &app);
/// Help only: `run` is carried out by runTraining before the line is parsed, since the runtime
/// parses its own.
Command addRun(CLI::App &app);

/// Replaces this process by the runtime's binary, which lies beside this one. Returns only on
/// failure.
Status runTraining(const std::vector<std::string> &arguments);

} // namespace syncline::driver

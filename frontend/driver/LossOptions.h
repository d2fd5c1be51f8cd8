// The options of `compile` that say which loss is trained.
#pragma once

#include "frontend/driver/Compile.h"

namespace CLI {
class App;
}

namespace syncline::driver {

/// Adds --loss, --classes-in and --loss-on, which set `options`; these outlive the command.
void addLoss(CLI::App &command, CompileOptions &options);

} // namespace syncline::driver

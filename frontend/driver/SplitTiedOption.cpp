// What sends every gradient whole.
#include "frontend/driver/SplitTiedOption.h"

namespace syncline::driver {

Status checkSplitTied(const CompileOptions &options) {
  if (options.splitTied != "always")
    return Status::ok();
  const auto refuse = [](const std::string &what) {
    return Status::error(ErrorKind::badUsage, "--split-tied always: " + what);
  };
  if (options.consistency != "bsp")
    return refuse("with '--consistency " + options.consistency +
                  "' gradients stay on their rank, expected '--consistency bsp'");
  if (options.overlap == "step")
    return refuse("both parts have one update, for which a step waits at its end, expected "
                  "'--overlap backward'");
  if (options.planner != "optimal")
    return refuse("planner '" + options.planner +
                  "' follows a system that sends gradients whole, expected '--planner optimal'");
  return Status::ok();
}

} // namespace syncline::driver

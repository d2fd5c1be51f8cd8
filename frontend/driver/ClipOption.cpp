// All updates of a plan that clips wait for the last message, which some plans do not allow.
#include "frontend/driver/ClipOption.h"

#include "frontend/driver/ChooseOverlap.h"

namespace syncline::driver {

Status checkClipping(const CompileOptions &options) {
  if (!options.clipNorm)
    return Status::ok();
  const auto refuse = [](const std::string &what) {
    return Status::error(ErrorKind::badUsage, "--clip-norm: " + what);
  };
  if (options.consistency != "bsp")
    return refuse("with '--consistency " + options.consistency +
                  "' each rank clips its own gradients, expected the norm with 'syncline run'");
  if (options.overlap == "step")
    return refuse("updates wait for the norm of all gradients, but with '--overlap step' messages "
                  "reach into the next step, expected '--overlap backward'");
  const Result<std::shared_ptr<const solver::Planner>> planner =
      solver::parsePlanner(options.planner);
  if (planner && overlapFor(**planner, options.overlap) == "step")
    return refuse("updates wait for the norm of all gradients, but planner '" + options.planner +
                  "' orders messages that reach into the next step, expected another planner");
  return Status::ok();
}

} // namespace syncline::driver

// Gradients of several passes are added up, which wants gradients that travel whole.
#include "frontend/driver/AccumulateOption.h"

namespace syncline::driver {

Status checkAccumulation(const CompileOptions &options) {
  if (options.accumulate == 1)
    return Status::ok();
  const auto refuse = [](const std::string &what) {
    return Status::error(ErrorKind::badUsage, "--accumulate: " + what);
  };
  if (options.consistency != "bsp")
    return refuse("with '--consistency " + options.consistency +
                  "' weights travel, which no plan predicts for several batches, expected the "
                  "number with 'syncline run'");
  if (options.splitTied == "always")
    return refuse("rows would be added to a gradient in each pass, but the rest of it travels once "
                  "a step, expected '--split-tied auto' or 'never'");
  return Status::ok();
}

} // namespace syncline::driver

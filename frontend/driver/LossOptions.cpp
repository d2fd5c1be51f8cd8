// Which output, which loss, and where its classes are.
#include "frontend/driver/LossOptions.h"

#include "runtime/launch/CliChecks.h"
#include "runtime/launch/CommandLine.h"

#include "CLI/CLI.hpp"

namespace syncline::driver {

void addLoss(CLI::App &command, CompileOptions &options) {
  command.add_option("--loss", options.loss, "Take this loss on the model's output")
      ->check(launch::oneOf({"cross-entropy", "mse"}))
      ->capture_default_str()
      ->group("Training");
  command
      .add_option("--classes-in", options.classesIn,
                  "Take this dimension of the output for the classes of a cross-entropy: 1, the "
                  "second, or -1, the last; auto: as the end of the model has them, with a note")
      ->check(launch::oneOf({"auto", "1", "-1"}))
      ->capture_default_str()
      ->group("Training");
  command
      .add_option("--loss-on", options.modelOutput,
                  "Take the loss on this output; default: the first")
      ->check(launch::someText())
      ->group("Training");
}

} // namespace syncline::driver

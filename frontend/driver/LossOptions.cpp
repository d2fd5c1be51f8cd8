// Which output, which loss, and where its classes are.
#include "frontend/driver/LossOptions.h"

#include "runtime/launch/CliChecks.h"
#include "runtime/launch/CommandLine.h"
#include "syncline/TrainedLoss.h"

#include "CLI/CLI.hpp"

namespace syncline::driver {

void addLoss(CLI::App &command, CompileOptions &options) {
  const auto check = [](const std::string &text) {
    const Result<TrainedLoss> loss = TrainedLoss::parse(text);
    return loss ? std::string() : loss.status().message();
  };
  command
      .add_option("--loss", options.loss,
                  "Take this loss on the model's output, the mean over elements or, for a "
                  "cross-entropy, over predictions: cross-entropy, "
                  "cross-entropy:targets=probabilities, cross-entropy:smoothing=S, "
                  "cross-entropy:weights=FILE (.npy or .csv, a number from 0 on for each class), "
                  "mse, l1, smooth-l1, smooth-l1:beta=B or bce-with-logits; "
                  "output:NAME trains by an output of one number, a loss that the model computes, "
                  "labels being inputs")
      ->check(check)
      ->type_name("LOSS")
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
                  "Take the loss on this output; default: the first. NAME,NAME=WEIGHT,... adds "
                  "the weighted losses of several, with the same targets; evaluation scores the "
                  "first alone")
      ->check(launch::someText())
      ->group("Training");
}

} // namespace syncline::driver

// A step that trains: random numbers, a parameter with momentum, a loss; run in every way that a
// backend offers.
#pragma once

#include "tests/conformance/StepCase.h"

#include <vector>

namespace syncline::conformance {

class TrainedStep {
public:
  explicit TrainedStep(const Backend &backend);

  core::Executable &operator*() { return *run; }

  /// Another input and target for each number.
  void feed(std::int64_t number);
  /// As feed(), by Executable::feed(). With `isSpoiled` the first element is infinite.
  void feedNext(std::int64_t number, bool isSpoiled = false);
  /// Tells the step's operations, or replays them, and ends the step without waiting for it.
  void tellStep(std::int64_t number, bool isReplayed);
  /// All operations, marked if asked; done when it returns.
  void runEagerly(std::int64_t number, bool marked = false);
  /// The operations between beginCapture() and endCapture().
  void capture(bool marked = false);
  void replay(std::int64_t number);

  /// What a step leaves behind.
  struct Outcome {
    std::vector<double> weights, mask, result;
    double loss = 0;
    bool operator==(const Outcome &) const = default;
  };
  Outcome outcome();

private:
  void tell(bool marked);

  StepCase run;
  Tensor x, target, weight, mask, y;
};

} // namespace syncline::conformance

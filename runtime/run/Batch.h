// The samples of one step in the host's memory, and their place in the step.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/run/Plan.h"

#include <vector>

namespace syncline::run {

class Batch {
public:
  Batch() = default;
  /// Room for a batch of the plan; `executable` is its step and outlives this object.
  Batch(const Plan &plan, core::Executable &executable);

  /// Copies the samples to the step's input and target.
  Status write();
  /// Takes as long as reading the same samples from memory again. For measurements without data.
  void readAgain() {
    copiedX = x;
    copiedY = y;
  }

  std::vector<std::byte> x, y; ///< inputs and targets

private:
  std::vector<std::byte> copiedX, copiedY;
  core::Executable *executable = nullptr;
  int input = -1, target = -1;
};

} // namespace syncline::run

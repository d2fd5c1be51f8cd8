// The learning rates of steps, where captured updates read them.
#pragma once

#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/Program.h"

#include <array>
#include <limits>

namespace syncline::cuda {

/// A captured step repeats the arguments of its launches, so that a rate among them would stay.
/// Its updates therefore read the rate from the device's memory, where a kernel in front of each
/// step writes it. Steps of even and of odd numbers have a place each: while a step runs, messages
/// of the step before may still update with that step's rate. The program outlives it. Functions
/// throw Failure.
class StepRates {
public:
  explicit StepRates(const Program &program) : program(program) {}

  void allocate() { memory = DeviceMemory(sizeof written); }
  /// Sets the rate of steps from now on, and that of updates under way.
  void setAll(double rate);
  /// Sets the rate of the steps that begin from now on.
  void set(double rate) { next = rate; }
  /// Enqueues the writing of the rate for a step that begins. A place that has it is left alone, so
  /// that a constant rate costs no launch.
  void begin(std::size_t turn);
  /// Where updates find the rate of the last step of this turn, which has computed their gradients.
  const double *of(std::size_t turn) const {
    return reinterpret_cast<const double *>(memory.data()) + turn;
  }

private:
  const Program &program;
  double next = core::OptimizerOptions().rate;
  /// What the places hold once the stream has come so far; NaN, which equals nothing, at first.
  std::array<double, 2> written{std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::quiet_NaN()};
  DeviceMemory memory;
};

} // namespace syncline::cuda

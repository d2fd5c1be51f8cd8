// Loading the plan's compiled step and preparing it by a backend.
#pragma once

#include "runtime/core/Backend.h"
#include "runtime/run/plan/Plan.h"

#include <memory>

namespace syncline::run {

/// An executable together with the library whose code it calls.
class StepLibrary {
public:
  /// Loads step.so and builds its step. Errors: badInput for a library of another version or
  /// backend, and for a step that `backend` refuses.
  static Result<StepLibrary> load(const Plan &plan, const core::Backend &backend,
                                  const core::ExecutableOptions &options);

  core::Executable &executable() const { return *prepared; }

private:
  std::shared_ptr<void> handle; // outlives what calls into it
  std::unique_ptr<core::Executable> prepared;
};

} // namespace syncline::run

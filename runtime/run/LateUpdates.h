// Updates behind a step's last operation, where they need the norm of all gradients.
#pragma once

#include "runtime/core/StepRunner.h"
#include "syncline/Status.h"

namespace syncline::run {

/// Runs all update operations of the step, in their order. Errors: as StepRunner::run().
inline Status runUpdates(core::StepRunner &runner) {
  for (std::size_t i = 0; i < runner.operations().size(); ++i)
    if (runner.operations()[i].kind == core::OperationKind::update)
      if (Status s = runner.run(static_cast<int>(i)); !s)
        return s;
  return Status::ok();
}

} // namespace syncline::run

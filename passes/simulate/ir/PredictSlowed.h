// A plan's step where computation takes less or more time than predicted.
#pragma once

#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace syncline::simulate {

struct SlowedStep {
  double step = 0, exposed = 0; ///< seconds
  double efficiency = 0;        ///< one device's step, as much slower, over it
};

/// The plan's step where computation takes so many times as long and messages take what they do; in
/// all else it is predicted as the plan's own step. Nothing where a step has several micro-batches,
/// or gradients stay on their rank. Errors: those of the simulation. Precondition: factor > 0.
Result<std::optional<SlowedStep>> predictSlowed(mlir::ModuleOp module, double factor);

} // namespace syncline::simulate

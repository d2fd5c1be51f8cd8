// Timeline: when each gradient of a step exists, from the predicted times of its operations.
#pragma once

#include "ir/nn/NN.h"
#include "ir/sync/Sync.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::cost {

/// One gradient, as the merge problem sees it.
struct ReadyGradient {
  std::string name;       ///< the parameter's, or the trace's layer's
  std::int64_t bytes = 0; ///< dense
  double ready = 0;       ///< seconds from the step's beginning
  double lastRead = 0;    ///< when the last operation that reads its parameter has ended
  double backward = 0;    ///< seconds of its layer's backward, in a trace
  double updating = 0;    ///< seconds of its parameter's update, part of Timeline::updates
  nn::UpdateOp update;    ///< null for a trace
  sync::LayerOp layer;    ///< null for a step
};

struct Timeline {
  double forward = 0;                   ///< seconds of the operations before backward
  double backwardEnd = 0;               ///< when the last gradient's computation ends
  double updates = 0;                   ///< seconds of all updates together
  std::vector<ReadyGradient> gradients; ///< ready ascending, ties in program order
};

/// One stream, operations in program order, updates not among them: a gradient is ready when the
/// operation that makes it ends. Looks through `sync.gradient`. Fails, with a diagnostic at the
/// operation, where one that takes time has no `nn.seconds`.
mlir::FailureOr<Timeline> timelineOf(nn::StepOp step);

/// Seconds of a trace's layer's update; 0 where the trace does not say.
double updateOf(sync::LayerOp layer);

/// Forward in the trace's order, then backward in the reverse; layers of zero bytes have no
/// gradient.
/// Updates are those that the trace states. Every time is `slowdown` times the trace's.
Timeline timelineOf(sync::TraceOp trace, double slowdown = 1);

} // namespace syncline::cost

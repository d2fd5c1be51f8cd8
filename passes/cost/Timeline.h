// Timeline: when each gradient of a step is ready, from the predicted times of its operations.
#pragma once

#include "ir/nn/NN.h"
#include "ir/sync/Sync.h"
#include "passes/problem/Problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline::cost {

/// One gradient, or one of two parts of it that travel apart, as the sync problem sees it.
struct ReadyGradient {
  std::string name;       ///< name of the parameter, or of the trace's layer
  std::int64_t bytes = 0; ///< bytes of the dense gradient; of rows, those of one rank
  double ready = 0;       ///< seconds from the step's beginning
  double firstRead = 0;   ///< when the first operation that reads its parameter starts
  double lastRead = 0;    ///< when the last operation that reads its parameter has ended
  double backward = 0;    ///< seconds of its layer's backward, in a trace
  double updating = 0;    ///< seconds of its parameter's update, part of Timeline::updates
  double reconstruct = 0; ///< seconds that a trace's layer states for one more rank's samples
  nn::UpdateOp update;    ///< null for a trace
  sync::GradientOp local; ///< null for a trace, and where nothing is synchronised yet
  sync::LayerOp layer;    ///< null for a step
};

struct Timeline {
  double forward = 0;                   ///< seconds of the operations before backward
  double backwardEnd = 0;               ///< when the last gradient's computation ends
  double updates = 0;                   ///< seconds of all updates together
  std::vector<ReadyGradient> gradients; ///< ready ascending, ties in program order
  /// When memory-bound operations run (workOf()); not known of a trace.
  std::optional<std::vector<problem::WorkSpan>> memoryBound = {};
};

/// The timeline of a step: operations run in program order on one stream, without updates, and a
/// gradient is ready when the operation that makes it ends. Looks through `sync.gradient`. Fails,
/// with a diagnostic at the operation, where one that takes time has no `nn.seconds`.
mlir::FailureOr<Timeline> timelineOf(nn::StepOp step);

/// When the next forward pass reads each gradient's parameter first, in seconds from its beginning:
/// 0 for one that no operation of that pass reads.
std::vector<double> readingOf(const Timeline &timeline);
/// Those of the gradients that have these names, in their order.
std::vector<double> readingOf(const Timeline &timeline, const std::vector<std::string> &names);

/// For each gradient the computation, in seconds, that is left when its parameter is updated: the
/// next forward pass from the first operation that reads the parameter, and the updates of
/// parameters that are read later. Where one operation is the first to read several
/// parameters, the one whose gradient is ready last is updated first. A parameter that no operation
/// of the forward pass reads is updated before that pass.
std::vector<double> tailsOf(const Timeline &timeline);

/// Seconds to update a trace's layer; 0 where the trace does not say.
double updateOf(sync::LayerOp layer);

/// The timeline of a trace: forward in the trace's order, then backward in reverse order, and the
/// updates that the trace states. Layers of zero bytes have no gradient. Every time is `slowdown`
/// times the trace's.
Timeline timelineOf(sync::TraceOp trace, double slowdown = 1);

} // namespace syncline::cost

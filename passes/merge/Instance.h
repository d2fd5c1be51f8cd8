// Derives merge classes, factor options and piggybacks from timed gradients and a scheme catalog.
#pragma once

#include "passes/cost/SchemeCatalog.h"
#include "passes/cost/Timeline.h"
#include "passes/merge/RequestedSchemes.h"
#include "passes/problem/Problem.h"
#include "syncline/Status.h"

namespace syncline::merge {

/// The contents of a `sync.problem`.
struct Instance {
  cost::Timeline timeline;  ///< with the ready times and updates that requests imply
  problem::Problem problem; ///< its layers are timeline.gradients
};

/// States what every gradient may do on the cluster.
///
///   - A layer without a request may use all all-reduces and the servers, in one merge class, and
///     its factors where it has them. Servers that cannot hold every gradient are a merge class of
///     their own.
///   - A layer with a request uses a merge class of that scheme alone, or its factors alone; a bias
///     is then a piggyback. Where several patterns match a layer, the last counts.
///   - A layer that is requested to use reduce-scatter is ready once no operation reads its
///     parameters any more, and its message updates them.
///
/// Returns badInput, naming layer, scheme and reason, where a pattern matches no layer; a requested
/// scheme is not offered, or the layer has no factors; more than three merge classes would be
/// needed; a layer is larger than the cluster's largest message; or the servers cannot hold the
/// gradients that only they can take.
Result<Instance> poseInstance(cost::Timeline timeline, cluster::DeviceAttr device,
                              const cost::SchemeCatalog &catalog,
                              llvm::ArrayRef<RequestedScheme> requested);

} // namespace syncline::merge

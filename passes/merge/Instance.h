// From timed gradients and a cluster's offer to merge classes, ways to travel alone, and
// piggybacks.
#pragma once

#include "passes/cost/SchemeCatalog.h"
#include "passes/cost/Timeline.h"
#include "passes/merge/RequestedSchemes.h"
#include "syncline/Status.h"

namespace syncline {

/// What a `sync.problem` says; indices are into timeline.gradients.
struct Instance {
  cost::Timeline timeline; ///< with the ready times and updates that the schemes imply
  llvm::SmallVector<sync::MergeClassAttr> mergeClasses;
  llvm::SmallVector<sync::FactorOptionAttr> factorOptions;
  llvm::SmallVector<std::int64_t> piggybacks; ///< pairs of piggyback and carrier
  llvm::SmallVector<std::int64_t> only;       ///< a set of merge classes each
};

/// What every gradient may do on the cluster.
///
/// A gradient that nothing forces may travel by every all-reduce and through the servers, all in
/// one merge class, and by factors where it has them; servers whose memory does not take every
/// gradient are a merge class of their own. Where several patterns match a layer, the last counts.
/// Forced layers travel in a merge class of their scheme alone, or by factors alone, a bias that
/// rides without a message. Layers that travel by reduce-scatter are ready once nothing reads their
/// parameters any more, and their messages update them.
///
/// badInput, naming layer, scheme and reason: a pattern matches no layer; a forced scheme is not
/// offered, or the layer has no factors; more than three merge classes come of it; a layer is
/// larger than the cluster's largest message; servers cannot hold what only they can take.
Result<Instance> poseInstance(mlir::MLIRContext *context, cost::Timeline timeline,
                              cluster::DeviceAttr device, const cost::SchemeCatalog &catalog,
                              llvm::ArrayRef<RequestedScheme> requested);

} // namespace syncline

// How the ranks agree, as plan.json says it: cluster, layers, prediction, proof, and the buckets of
// a trace.
#pragma once

#include "ir/sync/Sync.h"
#include "syncline/Status.h"

#include <nlohmann/json.hpp>

namespace syncline {

nlohmann::json clusterJson(cluster::SpecAttr spec);

/// Gradients in backward order, as the planner saw them.
nlohmann::json layersJson(sync::ProblemOp problem);

/// Sets `planner`, `asked`, `predicted`, `optimal` and `certificate`. badInput where a message
/// travels by a scheme that its problem does not offer, or a layer that there is not.
Status addPrediction(nlohmann::json &plan, sync::ProblemOp problem, sync::SolutionOp solution);

/// What the solution says of the buckets of a program, which are its messages: `traffic` and
/// `rebuilt`. Precondition: addPrediction accepted the solution. badInput where there are not as
/// many buckets as messages.
Status addPredictedBuckets(nlohmann::json &buckets, sync::ProblemOp problem,
                           sync::SolutionOp solution);

/// The buckets where there is no program. Precondition: addPrediction accepted the solution.
nlohmann::json traceBucketsJson(sync::ProblemOp problem, sync::SolutionOp solution);

/// Processes besides the ranks that messages of the solution need: dedicated servers.
std::int64_t dedicatedServers(cluster::SpecAttr spec, sync::SolutionOp solution);

} // namespace syncline

// How the ranks agree, as plan.json says it: cluster, layers, prediction, proof, and the buckets of
// a trace.
#pragma once

#include "ir/sync/Sync.h"
#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

namespace syncline::codegen {

/// The cluster as `cluster` of plan.schema.json has it: seconds, bytes and rates a second, null for
/// what it does not have.
nlohmann::json clusterJson(cluster::SpecAttr spec);

/// Gradients in backward order, as the planner saw them.
nlohmann::json layersJson(sync::ProblemOp problem);

/// Sets `planner`, `requested`, `optimal` and `certificate`, for steps of so many micro-batches.
/// badInput where a message travels by a scheme that its problem does not offer, or has a layer
/// that the problem does not have.
Status addAgreement(nlohmann::json &plan, sync::ProblemOp problem, sync::SolutionOp solution,
                    sync::PredictionOp prediction, std::int64_t microBatches);

/// What a step of so many micro-batches takes in virtual time, what it moves, and, as `planner`,
/// what the planner's model says. Precondition: addAgreement accepted the solution.
nlohmann::json predictionJson(sync::ProblemOp problem, sync::SolutionOp solution,
                              sync::PredictionOp prediction, std::int64_t microBatches);

/// The buckets where there is no program, without times. Precondition: as predictionJson.
nlohmann::json traceBucketsJson(sync::ProblemOp problem, sync::SolutionOp solution);

/// Sets the buckets' times and `traffic`. Precondition: as predictionJson. badInput where there are
/// not as many buckets, or times, as messages.
Status addPredictedTimes(nlohmann::json &buckets, sync::ProblemOp problem,
                         sync::SolutionOp solution, sync::PredictionOp prediction);

/// Processes besides the ranks that messages of the solution need: dedicated servers.
std::int64_t dedicatedServers(cluster::SpecAttr spec, sync::SolutionOp solution);

} // namespace syncline::codegen

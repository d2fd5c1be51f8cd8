// From a planned module to plan.json; plan.schema.json beside this file is its schema.
#pragma once

#include "syncline/PlanConstants.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json.hpp>

#include <string>

namespace syncline {

/// What plan.json says that the module does not.
struct PlanInfo {
  std::string version;         ///< of Syncline
  std::string name;            ///< of the plan: the model's or trace's name
  std::string modelHash;       ///< SHA-256 of the model or trace file
  std::string clusterHash;     ///< SHA-256 of the cluster file
  std::string backend = "cpu"; ///< that the step is compiled for
};

/// The document without hashes of files and of itself (writePlan adds them): `hashes` has `model`,
/// `cluster`, an empty `files` and an empty `plan`. The module holds a plan.program (runnable) or a
/// sync.trace (not), one sync.problem, its sync.solution and sync.prediction, and `cluster.spec`.
/// Fails when one is missing, where a program has not exactly one input and one target, and where
/// the backend's messages are NCCL's and the cluster does not say so, or the other way round (P24).
Result<nlohmann::json> emitPlanJson(mlir::ModuleOp module, const PlanInfo &info);

} // namespace syncline

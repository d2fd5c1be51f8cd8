// From a planned module to plan.json; plan.schema.json beside this file is its schema.
#pragma once

#include "syncline/PlanConstants.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace syncline::codegen {

/// The contents of plan.json that the module does not have.
struct PlanInfo {
  std::string version;         ///< Syncline's version
  std::string name;            ///< the plan's name, which is the model's or the trace's
  std::string modelHash;       ///< SHA-256 of the model or trace file
  std::string clusterHash;     ///< SHA-256 of the cluster file
  std::string backend = "cpu"; ///< the backend that the step is compiled for
  std::vector<std::string> unneededInputs = {}; ///< the model's inputs that the step does not read
  nlohmann::json options = {}; ///< what `compile` was told that the module does not say
};

/// The document without hashes of files and of itself (writePlan adds them): `hashes` has `model`,
/// `cluster`, an empty `files` and an empty `plan`. The module holds a plan.program (runnable) or a
/// sync.trace (not runnable), one sync.problem, its sync.solution and sync.prediction, and
/// `cluster.spec`. Fails where one of these is missing, and where a program does not have an input
/// and exactly one target, or none where the model computes its loss. Fails also where NCCL carries
/// the backend's messages and the cluster does not say so, or the other way round (P24).
Result<nlohmann::json> emitPlanJson(mlir::ModuleOp module, const PlanInfo &info);

} // namespace syncline::codegen

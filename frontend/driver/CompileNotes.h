// What `compile` tells people about cluster, planner and model, on standard error.
#pragma once

#include "frontend/onnx/Inventory.h"
#include "passes/candidates/ChoosePlan.h"
#include "passes/solver/Planner.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::driver {

/// "161 parameters, 97.5 MiB; not planned: 'a', 'b', 'c' and 103 more (frozen, 207 KiB)".
std::string inventoryText(const frontend::Inventory &inventory);

/// The note that a model is planned without its step.
std::string whyNoStep(const Status &refusal);

/// Warns of messages that NCCL's tuner cannot tell apart.
void warnOfClashes(mlir::ModuleOp module);

/// Notes that the cluster's device is that of kind 'cpu' (CompileRequest::assumesDevice), where
/// there are several clusters with the name of the offer.
void noteAssumedDevice(const std::string &offer = "");

/// Notes the nodes that the cluster file calls slower than the others.
void noteSlowNodes(mlir::ModuleOp module);

/// Notes that a planner that imitates a system takes Gloo's ring, where that may be NCCL.
void noteRing(const solver::Planner &planner, mlir::ModuleOp module, const nlohmann::json &plan);

/// Notes which candidate is planned and what became of the others, where there are any.
void noteChoice(const candidates::Choice &choice);

} // namespace syncline::driver

// For which devices `compile` plans.
#pragma once

#include "frontend/driver/Compile.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::driver {

/// Whether a kind of device, as a cluster file names it, is a GPU.
bool isGpuKind(const std::string &kind);

/// Sets the backend where no --backend was given: cuda where the cluster's devices are of a kind of
/// GPU or its times were measured on GPUs, else cpu. Precondition: the cluster's path is resolved.
/// Errors: badInput for a cluster file that cannot be read.
Status settleBackend(CompileOptions &options);

/// Says what no other command does: for whose transport and in which precision the plan is, and
/// what a rank needs of its device. `plan` is plan.json; `kind` is the cluster's kind of device.
void noteBackend(const nlohmann::json &plan, const std::string &kind);

/// Notes that step.cu is left uncompiled, and what to install, where that is so.
void noteUncompiled(const nlohmann::json &plan);

} // namespace syncline::driver

// What travels when, where gradients do not, as plan.json says it.
#pragma once

#include "ir/plan/Plan.h"

#include <nlohmann/json_fwd.hpp>

namespace syncline::codegen {

/// `consistency` of plan.schema.json: null where gradients travel in every step.
nlohmann::json consistencyJson(plan::ProgramOp program);

/// Adds what the exchanges move and expose in a step, in the mean over a period, to `predicted`.
void addExchanges(nlohmann::json &predicted, plan::ProgramOp program,
                  sync::PredictionOp prediction);

} // namespace syncline::codegen

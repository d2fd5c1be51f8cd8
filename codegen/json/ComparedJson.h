// What a plan was compared with, as JSON.
#pragma once

#include "ir/sync/Sync.h"

#include <nlohmann/json_fwd.hpp>

namespace syncline::codegen {

/// What plan.schema.json's prediction has only where plans were compared: "disturbed", how long
/// drawn steps take by the plan and by the others, and "range", what the step is where computation
/// takes less or more time. An object, empty where neither is known.
nlohmann::json comparedJson(sync::PredictionOp prediction);

} // namespace syncline::codegen

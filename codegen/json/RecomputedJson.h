// What a plan recomputes, as JSON.
#pragma once

#include "ir/plan/Plan.h"

#include <nlohmann/json_fwd.hpp>

namespace syncline::codegen {

/// The blocks that are recomputed, the operations that run again, their seconds and the bytes that
/// the arena saves; null where the program recomputes nothing.
nlohmann::json recomputedJson(plan::ProgramOp program);

} // namespace syncline::codegen

// Batches of unequal ranks, as text for people.
#pragma once

#include "codegen/folder/SmallerPlans.h"
#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// "balance: rank 0 takes 11 samples, rank 1 takes 5 samples; predicted step 10.2 ms, 15.1 ms with
/// 8 each": the step is that of `plan`, the folder's own plan.json. Errors: badInput where it does
/// not follow the plan schema.
Result<std::string> balanceText(const codegen::RankBatches &batches, const nlohmann::json &plan);

/// A table with a row for each run of equal ranks: batch, slowdown, seconds that they compute in a
/// step and wait for the slowest; then the line above. Errors: as above.
Result<std::string> batchesTable(const codegen::RankBatches &batches, const nlohmann::json &plan);

} // namespace syncline::report

// A file that lists the plans of one folder, whose steps train the same parameters.
#pragma once

#include "runtime/run/plan/Plan.h"
#include "runtime/run/plan/PlanJson.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::run {

/// A plan as such a file lists it.
struct ListedPlan {
  std::int64_t size = 0;
  std::string folder, hash;
};

struct PlanList {
  std::string path;                ///< of the file, for messages
  std::string hash{};              ///< of the file
  std::string dimension{};         ///< of the sizes
  std::vector<ListedPlan> plans{}; ///< ascending by size, the folder's own last
  Json document{};                 ///< the file, an object
};

/// Reads the list `name` in the plan's folder; nothing where there is none. Errors: badInput,
/// naming the file, for a malformed one.
Result<std::optional<PlanList>> readPlanList(const Plan &own, std::string_view name);

/// Errors: badInput where the plan is another one than the list means.
Status expectListed(const Plan &plan, const PlanList &list, const ListedPlan &listed);

/// Ok where steps of both plans can train the same parameters: what a run depends on, buckets and
/// what is trained are equal; batches too, unless they may be `unequal`. Errors: badInput.
Status expectAlike(const Plan &own, const Plan &smaller, bool unequal = false);

} // namespace syncline::run

// The plans of a folder for several lengths of its samples.
#pragma once

#include "runtime/data/Lengths.h"
#include "runtime/run/plan/Plan.h"

#include <string>
#include <vector>

namespace syncline::run {

/// The plans beside the folder's own, which is that of the longest samples.
struct PlanLengths {
  std::vector<Plan> smaller; ///< ascending; empty where the folder has one plan
  data::Lengths samples;     ///< of all plans, the folder's own last
  std::string hash;          ///< of lengths.json; empty where there is none

  bool isEmpty() const { return smaller.empty(); }
  /// The plan of length number `length`, where `own` is the folder's own.
  const Plan &plan(std::size_t length, const Plan &own) const {
    return length < smaller.size() ? smaller[length] : own;
  }
};

/// Reads lengths.json in the plan's folder, where there is one, and the plans that it lists.
/// Errors: badInput, naming the file, for a malformed one, for plans that it does not mean, and for
/// plans whose steps cannot train the same parameters: buckets and what is trained must be equal.
Result<PlanLengths> loadLengths(const Plan &own);

} // namespace syncline::run

// PlannerRows: how planners plan, and a row for each that users may name. The rows of a file stand
// beside the rules that it has; Planner.cpp joins them.
#pragma once

#include "passes/problem/OrderProblem.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// A rule that chooses how each layer travels, or badInput where it has no answer.
using MergeRule = std::function<Result<std::vector<Choice>>(const Problem &)>;

/// A rule that orders messages under the next forward pass.
using OrderRule = std::function<Result<OrderSolution>(const OrderProblem &)>;

/// Our own search among all plans, as if messages by factors and rows were so many times as dear:
/// infinitely where it has none of them. For steps of several micro-batches (Gathering.h). Or as if
/// all messages took longer, by so much of their time, so that a late rank finds some slack; and
/// perhaps without halves (Inflation.h).
struct Search {
  double gatherPrice = 1;
  double inflation = 0;
  bool inHalves = true; ///< whether an order may have halves

  bool isPlain() const { return gatherPrice == 1 && inflation == 0 && inHalves; }
  bool sumsOnly() const { return gatherPrice == std::numeric_limits<double>::infinity(); }
};

using PlannerMethod = std::variant<Search, MergeRule, OrderRule>;

/// How a planner is written on the command line and what it does, for help texts.
struct PlannerUsage {
  std::string_view form; ///< "ddp:SIZE", "z3:messages=N"
  std::string_view text;
};

/// A planner that users may name.
struct PlannerRow {
  PlannerUsage usage;
  std::function<PlannerMethod(std::int64_t)> method; ///< given the SIZE of the form, if it has one

  std::string_view name() const { return usage.form.substr(0, usage.form.find(':')); }
};

/// The method of a planner whose form has no argument.
inline std::function<PlannerMethod(std::int64_t)> always(PlannerMethod method) {
  return [method](std::int64_t) { return method; };
}

// Each returns its file's planners in the order of the help text.
std::vector<PlannerRow> groupingPlanners(); ///< ComparisonPlanners.cpp
std::vector<PlannerRow> schemePlanners();   ///< SchemePlanners.cpp
std::vector<PlannerRow> orderingPlanners(); ///< OrderRivals.cpp

} // namespace syncline::solver

// What two plans differ in where messages of one reach into the next forward pass.
#pragma once

#include "frontend/report/PlanDiff.h"
#include "frontend/report/Table.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// "2.00x"; "-" where there is nothing to divide by.
std::string ratio(double before, double after);

/// Adds what hides behind which pass, and the planner's step with its gap. Throws as nlohmann::json
/// does where a plan lacks a field.
void addOrderRows(Table &table, const nlohmann::json &left, const nlohmann::json &right);

/// Which gradients arrive earlier or later; empty where neither plan has an order. Throws as above.
std::string orderDiff(const NamedPlan &left, const NamedPlan &right);

} // namespace syncline::report

// Which consistency a plan has, where the user names several: the one with most samples a second.
#pragma once

#include "frontend/driver/Compile.h"
#include "passes/candidates/ChoosePlan.h"

#include <functional>
#include <string>
#include <vector>

namespace syncline::driver {

/// Whether the text is "auto:FORM,FORM,..".
bool isAutoConsistency(const std::string &text);
/// The forms that the text names: itself, or those of "auto:..". Errors: badUsage where these are
/// empty or named twice.
Result<std::vector<std::string>> formsOf(const std::string &text);

/// The options with which this form is compiled alone. Only gradients, which bsp has, can travel
/// beyond the backward pass.
CompileOptions asForm(const CompileOptions &options, const std::string &form);

/// Plans with these options, whose consistency is one form.
using PlanAs = std::function<Result<candidates::Choice>(const CompileOptions &options)>;

/// A plan, and the table of all forms with what the plan's one trades, for people; empty where the
/// user named one form.
struct PlannedForm {
  candidates::Choice choice;
  std::string trade;
};

/// Plans once for each form of "auto:..", and takes the one that takes least seconds a step in
/// virtual time; of equal ones the one named first. Errors: badInput where none of the forms can be
/// planned and simulated.
Result<PlannedForm> planForms(const CompileOptions &options, const PlanAs &plan);

} // namespace syncline::driver

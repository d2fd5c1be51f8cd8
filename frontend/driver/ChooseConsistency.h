// Which consistency a plan has, where the user names several: the one with most samples a second.
#pragma once

#include "passes/candidates/ChooseForm.h"

#include <string>
#include <vector>

namespace syncline::driver {

/// Whether the text is "auto:FORM,FORM,..".
bool isAutoConsistency(const std::string &text);
/// The forms that the text names: itself, or those of "auto:..". Errors: badUsage where these are
/// empty or named twice.
Result<std::vector<std::string>> formsOf(const std::string &text);

/// A plan, and the table of all forms with what the plan's one trades, for people; empty where the
/// user named one form.
struct PlannedForm {
  candidates::Choice choice;
  std::string trade;
};

/// Plans the request, or the best of `openForms` where there are some. Errors: those of `plan` and
/// of candidates::chooseForm().
Result<PlannedForm> planForms(const candidates::Request &request,
                              const std::vector<std::string> &openForms,
                              const candidates::PlanOneForm &plan);

} // namespace syncline::driver

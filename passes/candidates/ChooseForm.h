// The choice among forms of consistency, by steps in virtual time.
#pragma once

#include "passes/candidates/ChoosePlan.h"

#include <functional>
#include <string>
#include <vector>

namespace syncline::candidates {

/// Plans a request whose consistency is one form, as choosePlan() does.
using PlanOneForm = std::function<Result<Choice>(const Request &request)>;

/// The seconds of a step of the form's plan, in the mean over ranks. It is simulated above the
/// passes (frontend/sweep), with what a user says of slow ranks.
using SimulateForm = std::function<Result<double>(mlir::ModuleOp plan, const std::string &form)>;

/// A form that cannot be planned or simulated, and why.
struct RefusedForm {
  std::string form, reason;
};

struct FormChoice {
  Choice choice;
  std::vector<RefusedForm> refused; ///< in the order in which they were named
};

/// Plans and simulates every form, and takes the one with the shortest step; of equal ones the one
/// named first. Errors: badInput, naming the first form, where all are refused; any other error of
/// `plan` and `simulate`. Precondition: `forms` is not empty.
Result<FormChoice> chooseForm(const Request &request, const std::vector<std::string> &forms,
                              const PlanOneForm &plan, const SimulateForm &simulate);

} // namespace syncline::candidates

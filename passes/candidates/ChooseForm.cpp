// Plans and simulates one form after the other.
#include "passes/candidates/ChooseForm.h"

#include <optional>

using namespace mlir;

namespace syncline::candidates {

/// The request with this form alone. Only gradients, which bsp has, can travel beyond the
/// backward pass.
static Request withForm(Request request, const std::string &form) {
  request.asked.consistency = form;
  if (request.opensOverlap && form != "bsp") {
    request.opensOverlap = false;
    request.asked.overlap = "backward";
  }
  return request;
}

Result<FormChoice> chooseForm(const Request &request, const std::vector<std::string> &forms,
                              const PlanOneForm &plan, const SimulateForm &simulate) {
  FormChoice best;
  double least = 0;
  for (const std::string &form : forms) {
    Result<Choice> choice = plan(withForm(request, form));
    const Result<double> step = choice ? simulate(*choice->plan, form) : choice.status();
    if (step) {
      if (!best.choice.plan || *step < least) {
        best.choice = std::move(*choice);
        least = *step;
      }
    } else if (step.status().kind() == ErrorKind::badInput) {
      best.refused.push_back({form, step.status().message()});
    } else {
      return step.status();
    }
  }
  if (!best.choice.plan)
    return Status::badInput("'" + best.refused.front().form + "': " + best.refused.front().reason);
  return best;
}

} // namespace syncline::candidates

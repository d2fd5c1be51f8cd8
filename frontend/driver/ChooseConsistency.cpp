// Has the forms that the user names compared, and tabulates them.
#include "frontend/driver/ChooseConsistency.h"

#include "frontend/report/ConsistencyReport.h"
#include "frontend/sweep/ConsistencyRun.h"

#include <string_view>

using namespace mlir;

namespace syncline::driver {

static constexpr std::string_view autoPrefix = "auto:";

bool isAutoConsistency(const std::string &text) { return text.starts_with(autoPrefix); }

Result<std::vector<std::string>> formsOf(const std::string &text) {
  if (!isAutoConsistency(text))
    return std::vector{text};
  Result<std::vector<std::string>> forms =
      sweep::splitForms(std::string_view(text).substr(autoPrefix.size()));
  if (forms)
    return forms;
  return Status::error(ErrorKind::badUsage, "--consistency: " + forms.status().message());
}

/// The form's step in virtual time, by its plan.
static Result<sweep::ConsistencyPoint> simulated(ModuleOp plan, const std::string &form) {
  SYNCLINE_TRY_GET(simulated, simulate::SimulatedPlan::create(plan));
  auto cluster = plan->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  return sweep::runConsistency(*simulated, cluster, form, {});
}

Result<PlannedForm> planForms(const candidates::Request &request,
                              const std::vector<std::string> &openForms,
                              const candidates::PlanOneForm &plan) {
  if (openForms.empty()) {
    SYNCLINE_TRY_GET(choice, plan(request));
    return PlannedForm{std::move(*choice), ""};
  }
  sweep::ConsistencySweep all;
  const auto simulate = [&all](ModuleOp planned, const std::string &form) -> Result<double> {
    SYNCLINE_TRY_GET(point, simulated(planned, form));
    all.points.push_back(std::move(*point));
    return all.points.back().step;
  };
  Result<candidates::FormChoice> best = candidates::chooseForm(request, openForms, plan, simulate);
  if (!best)
    return Status::error(best.status().kind(), "--consistency: " + best.status().message());
  for (candidates::RefusedForm &form : best->refused)
    all.refused.push_back({std::move(form.form), std::move(form.reason)});
  return PlannedForm{std::move(best->choice), report::consistencyTable(all)};
}

} // namespace syncline::driver

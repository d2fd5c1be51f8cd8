// Plans and simulates the forms that the user names.
#include "frontend/driver/ChooseConsistency.h"

#include "frontend/report/ConsistencyReport.h"
#include "frontend/sweep/ConsistencyRun.h"

#include <string_view>

using namespace mlir;

namespace syncline::driver {

static constexpr std::string_view autoPrefix = "auto:";

bool isAutoConsistency(const std::string &text) { return text.starts_with(autoPrefix); }

CompileOptions asForm(const CompileOptions &options, const std::string &form) {
  CompileOptions one = options;
  one.consistency = form;
  one.forms = {form};
  if (options.overlap == "auto" && form != "bsp")
    one.overlap = "backward";
  return one;
}

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

Result<PlannedForm> planForms(const CompileOptions &options, const PlanAs &plan) {
  PlannedForm best;
  if (!isAutoConsistency(options.consistency)) {
    SYNCLINE_TRY_GET(choice, plan(options));
    best.choice = std::move(*choice);
    return best;
  }
  sweep::ConsistencySweep all;
  double least = 0;
  for (const std::string &form : options.forms) {
    Result<candidates::Choice> choice = plan(asForm(options, form));
    Result<sweep::ConsistencyPoint> point =
        choice ? simulated(*choice->plan, form) : choice.status();
    if (point) {
      if (!best.choice.plan || point->step < least) {
        best.choice = std::move(*choice);
        least = point->step;
      }
      all.points.push_back(std::move(*point));
    } else if (point.status().kind() == ErrorKind::badInput) {
      all.refused.push_back({form, point.status().message()});
    } else {
      return Status::error(point.status().kind(), "--consistency: " + point.status().message());
    }
  }
  if (all.points.empty())
    return Status::badInput("--consistency: '" + all.refused.front().form +
                            "': " + all.refused.front().reason);
  best.trade = report::consistencyTable(all);
  return best;
}

} // namespace syncline::driver

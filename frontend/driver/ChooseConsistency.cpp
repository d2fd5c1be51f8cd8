// Simulates the forms that the user names.
#include "frontend/driver/ChooseConsistency.h"

#include "frontend/report/ConsistencyReport.h"
#include "frontend/sweep/ConsistencyRun.h"

#include <algorithm>
#include <string_view>

using namespace mlir;

namespace syncline::driver {

static constexpr std::string_view autoPrefix = "auto:";

bool isAutoConsistency(const std::string &text) { return text.starts_with(autoPrefix); }

CompileOptions asForm(const CompileOptions &options, const std::string &form) {
  CompileOptions one = options;
  one.consistency = form;
  if (options.overlap == "auto" && form != "bsp")
    one.overlap = "backward";
  return one;
}

Result<std::vector<std::string>> consistenciesOf(const std::string &text) {
  Result<std::vector<std::string>> forms =
      sweep::splitForms(std::string_view(text).substr(autoPrefix.size()));
  if (forms)
    return forms;
  return Status::error(ErrorKind::badUsage, "--consistency: " + forms.status().message());
}

/// The form's step by the plan that it has when it is named alone.
static Result<sweep::ConsistencyPoint> simulated(const CompileOptions &options, ModuleOp module,
                                                 const PlanAs &plan) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (Status planned = plan(options, copy); !planned)
    return planned;
  Result<simulate::SimulatedPlan> simulated = simulate::SimulatedPlan::create(*copy);
  if (!simulated)
    return simulated.status();
  auto cluster = (*copy)->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  return sweep::runConsistency(*simulated, cluster, options.consistency, {});
}

Result<std::string> chooseConsistency(CompileOptions &options, ModuleOp module,
                                      const PlanAs &plan) {
  if (!isAutoConsistency(options.consistency))
    return std::string();
  Result<std::vector<std::string>> forms = consistenciesOf(options.consistency);
  if (!forms)
    return forms.status();
  sweep::ConsistencySweep all;
  for (const std::string &form : *forms) {
    Result<sweep::ConsistencyPoint> point = simulated(asForm(options, form), module, plan);
    if (point)
      all.points.push_back(std::move(*point));
    else if (point.status().kind() == ErrorKind::badInput)
      all.refused.push_back({form, point.status().message()});
    else
      return Status::error(point.status().kind(), "--consistency: " + point.status().message());
  }
  if (all.points.empty())
    return Status::badInput("--consistency: '" + all.refused.front().form +
                            "': " + all.refused.front().reason);
  options = asForm(options,
                   std::ranges::min_element(all.points, {}, &sweep::ConsistencyPoint::step)->form);
  return report::consistencyTable(all);
}

} // namespace syncline::driver

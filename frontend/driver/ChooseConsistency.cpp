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

Result<std::vector<std::string>> consistenciesOf(const std::string &text) {
  Result<std::vector<std::string>> forms =
      sweep::splitForms(std::string_view(text).substr(autoPrefix.size()));
  if (forms)
    return forms;
  return Status::error(ErrorKind::badUsage, "--consistency: " + forms.status().message());
}

Result<std::string> chooseConsistency(CompileOptions &options, ModuleOp module,
                                      const PlanGradients &plan) {
  if (!isAutoConsistency(options.consistency))
    return std::string();
  Result<std::vector<std::string>> forms = consistenciesOf(options.consistency);
  if (!forms)
    return forms.status();
  CompileOptions gradients = options;
  gradients.consistency = "bsp";
  OwningOpRef<ModuleOp> copy = module.clone();
  if (Status planned = plan(gradients, copy); !planned)
    return planned;
  Result<simulate::SimulatedPlan> simulated = simulate::SimulatedPlan::create(*copy);
  if (!simulated)
    return simulated.status();
  auto cluster = (*copy)->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  Result<sweep::ConsistencySweep> all = sweep::runConsistencies(*simulated, cluster, *forms, {});
  if (!all)
    return Status::error(all.status().kind(), "--consistency: " + all.status().message());
  options.consistency =
      std::ranges::min_element(all->points, {}, &sweep::ConsistencyPoint::step)->form;
  return report::consistencyTable(*all);
}

} // namespace syncline::driver

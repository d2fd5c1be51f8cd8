// Predictions by layer are read from plan.mlir, since plan.json has none.
#include "frontend/driver/MeasuredPlan.h"

#include "codegen/folder/PlanFolder.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PlanModule.h"
#include "ir/plan/Plan.h"

#include "llvm/ADT/TypeSwitch.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

using namespace mlir;

namespace syncline::driver {

static report::LayerSeconds layersOf(ModuleOp module) {
  report::LayerSeconds layers;
  module.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<plan::CallOp, plan::PointwiseOp>([&](auto timed) {
      if (timed.getSeconds())
        layers[timed.getLayer().str()] += plan::secondsOf(timed);
    });
  });
  return layers;
}

Result<report::Comparison> measurePlan(const std::string &folder, const std::string &trace,
                                       double tolerance) {
  SYNCLINE_TRY_GET(plan, codegen::readPlanJson(folder));
  SYNCLINE_TRY_GET(read, files::readChromeTrace(trace));
  if (!read->leftOut.empty())
    std::fprintf(stderr, "syncline: note: '%s': %s\n", trace.c_str(), read->leftOut.c_str());
  PlanContext context;
  SYNCLINE_TRY_GET(module, readPlanModule(folder, context));
  SYNCLINE_TRY(expectGradientsTravel(**module, folder, "--measured"));
  return report::compareMeasured(*plan, layersOf(**module), *read, tolerance, trace);
}

Result<double> parseFraction(const std::string &text, const std::string &option) {
  double value = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  const bool isPercent = unit == "%" || unit == " %";
  if (error != std::errc() || !(isPercent || unit.empty()) || !(value >= 0) ||
      !std::isfinite(value))
    return Status::error(ErrorKind::badUsage,
                         option + ": expected a part such as '5%', got '" + text + "'");
  return isPercent ? value / 100 : value;
}

} // namespace syncline::driver

// `syncline inspect`: a plan's buckets, times and bound as a table.
#include "frontend/driver/Commands.h"
#include "frontend/driver/PlanReport.h"

#include "codegen/json/PlanFolder.h"

#include "CLI/CLI.hpp"

#include <cstdio>
#include <memory>

namespace syncline::driver {

namespace {
struct InspectOptions {
  std::string plan;
  bool members = false;
};
} // namespace

static Status inspect(const InspectOptions &options) {
  Result<nlohmann::json> plan = readPlanJson(options.plan);
  if (!plan)
    return plan.status();
  Result<std::string> report = planReport(*plan, options.members);
  if (!report)
    return Status::badInput("'" + options.plan + "/plan.json': " + report.status().message());
  std::fputs(report->c_str(), stdout);
  return Status::ok();
}

Command addInspect(CLI::App &app) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App *command = app.add_subcommand("inspect", "Show a plan's buckets, times and bound");
  command->add_option("PLAN", options->plan, "Folder that 'syncline compile' wrote")->required();
  command->add_flag("--members", options->members, "Name every gradient of every bucket");
  return [options] { return inspect(*options); };
}

} // namespace syncline::driver

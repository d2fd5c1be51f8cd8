// A profile from a run's trace: times of operations with messages beside them.
#include "frontend/profile/TorchTrace.h"

#include "runtime/core/Statistics.h"

#include <algorithm>
#include <limits>

namespace syncline::profile {
namespace {

using files::TraceEvent;

struct RankStep {
  double begin = std::numeric_limits<double>::infinity(), end = -begin;
  double updates = 0, updatedBytes = 0;
  std::map<std::string, double> forward, backward; ///< by node
};

} // namespace

Result<ImportedProfile> importRun(const files::ChromeTrace &trace, const std::string &fileName) {
  if (trace.kind != "measured")
    return Status::badInput(fileName + ": expected a trace of a run, got one that is '" +
                            trace.kind + "'");
  std::map<std::pair<std::int64_t, std::int64_t>, RankStep> steps; ///< by step and rank
  std::map<std::string, bool> nodes; ///< by name: whether the node has a backward pass
  const auto ranks = static_cast<double>(std::max<std::int64_t>(1, trace.ranks.value_or(1)));
  for (const TraceEvent &event : trace.events) {
    if (!event.step || !event.rank)
      continue;
    RankStep &step = steps[{*event.step, *event.rank}];
    if (event.category != "message") { // which may reach over the step's end
      step.begin = std::min(step.begin, event.begin);
      step.end = std::max(step.end, event.end());
    }
    if (event.category == "update") {
      step.updates += event.seconds;
      step.updatedBytes += static_cast<double>(event.bytes.value_or(0));
    }
    if (event.category != "compute" || event.layer.empty())
      continue;
    const bool isForward = event.phase == "forward";
    nodes[event.layer] |= !isForward;
    (isForward ? step.forward : step.backward)[event.layer] +=
        event.seconds / (event.phase == "update" ? ranks : 1);
  }
  if (nodes.empty())
    return Status::badInput(fileName + ": expected a trace with operations of layers, got none");
  auto typical = [&](auto &&of) {
    std::vector<double> values;
    for (auto &[key, step] : steps)
      values.push_back(of(step));
    return core::median(std::move(values));
  };
  ImportedProfile imported;
  imported.profile.name = trace.name + ", as it ran";
  imported.profile.batch = trace.batch;
  imported.steps = steps.size();
  imported.step = typical([](const RankStep &step) { return step.end - step.begin; });
  for (const auto &[name, hasBackward] : nodes) {
    files::OperationTimes &times = imported.profile.operations[name];
    times.forward = typical([&](RankStep &step) { return step.forward[name]; });
    imported.mapped += times.forward;
    if (!hasBackward)
      continue;
    times.backward = typical([&](RankStep &step) { return step.backward[name]; });
    imported.mapped += *times.backward;
  }
  const double bytes = typical([](const RankStep &step) { return step.updatedBytes; });
  if (bytes > 0)
    imported.profile.update = typical([](const RankStep &step) { return step.updates; }) / bytes;
  return imported;
}

} // namespace syncline::profile

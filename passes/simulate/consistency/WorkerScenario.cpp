// What a simulation of workers may state.
#include "passes/simulate/consistency/WorkerScenario.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace syncline::simulate {

using Form = Consistency::Form;

namespace {

std::string text(auto number) { return std::to_string(static_cast<std::int64_t>(number)); }

Status validateForm(const Consistency &form) {
  if (form.staleness < 0)
    return Status::badInput("expected a staleness of at least 0, got " + text(form.staleness));
  if (form.form == Form::dssp && form.upper < form.staleness)
    return Status::badInput("expected an upper bound of at least the lower bound of " +
                            text(form.staleness) + " steps, got " + text(form.upper));
  if (form.form == Form::dssp &&
      static_cast<double>(form.upper - form.staleness) > static_cast<double>(mostStepsApart))
    return Status::badInput("expected bounds at most " + text(mostStepsApart) +
                            " steps apart, got " + text(form.staleness) + " and " +
                            text(form.upper));
  if (form.period < 1 || form.fragments < 1 || form.period % form.fragments != 0)
    return Status::badInput("expected fragments that divide a period of at least 1 step, got " +
                            text(form.fragments) + " and " + text(form.period));
  if (form.delay < 0 || form.delay >= form.window())
    return Status::badInput("expected a delay below the " + text(form.window()) +
                            " steps of a window, got " + text(form.delay));
  return Status::ok();
}

Status validateLinks(const WorkerScenario &scenario) {
  const Machines &machines = scenario.machines;
  if (!scenario.consistency.hasServers()) {
    const auto isTime = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
    if (std::ssize(scenario.exchanges) != scenario.consistency.fragments ||
        !std::ranges::all_of(scenario.exchanges, isTime))
      return Status::badInput("expected a time of each of the fragments' exchanges");
    return Status::ok();
  }
  if (machines.dedicated && (machines.servers < 1 || machines.serverLink.secondsPerByte <= 0))
    return Status::badInput("expected a server with a link");
  if (!machines.network && (machines.dedicated || machines.nodes() > 1 || !machines.inside))
    return Status::badInput("expected the rates of the links between workers and servers");
  return Status::ok();
}

} // namespace

Status validate(const WorkerScenario &scenario) {
  SYNCLINE_TRY(validateForm(scenario.consistency));
  if (!(scenario.step > 0 && std::isfinite(scenario.step)))
    return Status::badInput("expected a step that takes time");
  if (!(scenario.jitter >= 0 && scenario.jitter < 1))
    return Status::badInput("expected a jitter from 0 to below 1");
  const std::vector<double> &slowdown = scenario.machines.slowdown;
  if (scenario.machines.ranks < 1 || scenario.steps < 1 || scenario.bytes < 0 ||
      (!slowdown.empty() && std::ssize(slowdown) != scenario.machines.ranks))
    return Status::badInput("expected workers, steps and bytes");
  // Faster workers go on until the slowest one is done, and messages share links with each other.
  constexpr double most = 2e7, together = 64;
  const double spread =
      slowdown.empty() ? 1 : std::ranges::max(slowdown) / std::ranges::min(slowdown);
  const double ranks = scenario.machines.ranks;
  const double effort = static_cast<double>(scenario.steps) * ranks * spread *
                        (1 + (scenario.consistency.hasServers() ? ranks / together : 0));
  if (effort > most)
    return Status::badInput("expected at most " + text(most) + " steps of all workers, got " +
                            text(effort));
  return validateLinks(scenario);
}

} // namespace syncline::simulate

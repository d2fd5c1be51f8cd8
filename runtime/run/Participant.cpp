// Loading the plan and joining the group.
#include "runtime/run/Participant.h"

#include "runtime/launch/Joining.h"
#include "runtime/run/StopSignal.h"

namespace syncline::run {

int receivedSignal(const transport::Group *group) {
  const int own = StopSignal::received();
  return own == 0 && group ? group->stopAsked() : own;
}

Status Participant::loadPlan() {
  Result<Plan> loaded = run::loadPlan(options.plan);
  if (!loaded)
    return loaded.status();
  plan = std::move(*loaded);
  notes = options.follow(plan);
  return Status::ok();
}

Status Participant::join() {
  if (identity.size == 1)
    return Status::ok();
  Result<std::unique_ptr<transport::Group>> found =
      launch::joinGroup(identity, options.startTimeout);
  if (!found)
    return found.status();
  group = std::move(*found);
  return group->agree({{"plan", plan.hash.substr(0, 16)}});
}

double Participant::timeout() const {
  return options.timeout.value_or(plan.usualTimeout(options.passes));
}

} // namespace syncline::run

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
  SYNCLINE_TRY_GET(loaded, run::loadPlan(options.plan));
  plan = std::move(*loaded);
  notes = options.follow(plan);
  return Status::ok();
}

Status Participant::join() {
  if (identity.size == 1)
    return Status::ok();
  SYNCLINE_TRY_GET(found, launch::joinGroup(identity, options.startTimeout));
  group = std::move(*found);
  return group->agree({{"plan", plan.hash.substr(0, 16)}});
}

double Participant::timeout() const {
  return options.timeout.value_or(plan.usualTimeout(options.microBatches));
}

} // namespace syncline::run

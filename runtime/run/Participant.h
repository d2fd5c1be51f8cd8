// What workers and servers of a run have in common: the plan, and the group that carries it out.
#pragma once

#include "runtime/launch/Identity.h"
#include "runtime/run/Options.h"
#include "runtime/run/Plan.h"
#include "runtime/transport/Group.h"

#include <memory>

namespace syncline {

/// One process of a run. `options` and `identity` outlive it.
class Participant {
public:
  virtual ~Participant() = default;
  /// From the plan folder to the end. After an error threads may still wait for lost ranks, with
  /// what belongs to this object.
  virtual Status run() = 0;
  /// After run(): the signal that ended the run early, on all ranks; 0 for none.
  virtual int stoppedBy() const { return 0; }
  /// Null until the others have been met, and where there are none.
  Group *joined() const { return group.get(); }

protected:
  Participant(const Options &options, const Identity &identity)
      : options(options), identity(identity) {}

  Status loadPlan();
  /// Meets the others; all have the same plan.
  Status join();
  /// Seconds that a rank waits for another while steps run.
  double timeout() const;

  const Options &options;
  const Identity &identity;
  Plan plan;
  std::unique_ptr<Group> group;
};

} // namespace syncline

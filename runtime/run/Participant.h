// The common part of a run's workers and servers: loading the plan and joining the group.
#pragma once

#include "runtime/launch/Identity.h"
#include "runtime/run/options/Options.h"
#include "runtime/run/plan/Plan.h"
#include "runtime/transport/Group.h"

#include <memory>

namespace syncline::run {

/// The signal by which this process, or on rank 0 a server, was asked to stop the run; 0 for none.
int receivedSignal(const transport::Group *group);

/// One process of a run. `identity` outlives it.
class Participant {
public:
  virtual ~Participant() = default;
  /// Runs the process's part from loading the plan to the end. After an error, threads may still
  /// wait for lost ranks and use members of this object.
  virtual Status run() = 0;
  /// The signal that ended this process's part early, or 0. Valid after run().
  virtual int stoppedBy() const { return 0; }
  /// Lets go of what other processes wait for, where the process ends without destroying this.
  virtual void release() {}
  /// The group of all ranks. Null before join() and in a run of one rank.
  transport::Group *joined() const { return group.get(); }

protected:
  Participant(const Options &options, const launch::Identity &identity)
      : options(options), identity(identity) {}

  /// Loads the plan, whose precision and wire the options follow.
  Status loadPlan();
  /// Joins the group and checks that all ranks have the same plan.
  Status join();
  /// Seconds that a rank waits for another rank while steps run.
  double timeout() const;

  Options options;
  const launch::Identity &identity;
  Plan plan;
  std::vector<std::string> notes; ///< what people should know of the options beside the plan's
  std::unique_ptr<transport::Group> group;
};

} // namespace syncline::run

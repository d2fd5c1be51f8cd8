// FlowNetwork: flows over shared resources. Flows share a resource by max-min fairness: no flow
// could get more without another, which has no more, getting less.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace syncline::simulate {

/// A resource that a flow uses: each byte of the flow takes `weight` bytes of it.
struct Use {
  int resource = -1;
  double weight = 1;
};

/// Resources in the order in which a flow passes them, each at most once. The first entry without a
/// resource ends the path.
using Path = std::array<Use, 4>;

/// Simulates flows. Units: seconds and bytes. Not thread-safe.
class FlowNetwork {
public:
  /// A prediction of a flow's end, which holds unless other flows come or go before; `version`
  /// tells it from earlier predictions.
  struct Ending {
    int flow = 0;
    std::uint32_t version = 0;
    double time = 0;
  };

  /// The use of a resource so far.
  struct Load {
    double bytes = 0;
    double busy = 0; ///< seconds in which at least one flow used it
  };

  /// Adds a resource of `capacity` bytes per second; returns its number.
  int addResource(double capacity);
  int resourceCount() const { return static_cast<int>(resources.size()); }

  /// Starts a flow and returns its number; numbers of ended flows are used again. The next settle()
  /// predicts its end. Preconditions: bytes > 0, the path is not empty, and times never decrease
  /// from call to call.
  int start(double now, const Path &path, double bytes, std::uint64_t tag);
  /// Whether the prediction still holds, so that the flow has ended at its time.
  bool isCurrent(const Ending &ending) const;
  /// Ends a flow and returns its tag. Precondition: isCurrent(ending), at the ending's time.
  std::uint64_t finish(const Ending &ending);
  /// From now on all flows go at this part of their speed. The next settle() predicts their ends.
  void setSpeed(double part);
  /// Shares resources anew where flows have changed since the last call, and reports every
  /// new prediction. Linear in the flows that the changes reach, times the logarithm of
  /// their resources.
  void settle(double now, const std::function<void(const Ending &)> &predicted);

  Load load(int resource) const;
  /// Bytes a second of a flow, as of the last settle().
  double rate(int flow) const { return flows[flow].rate * speed; }
  double capacity(int resource) const { return resources[resource].capacity; }

private:
  struct Resource {
    double capacity = 0;
    std::vector<std::pair<int, int>> flows; ///< flows, and which of their uses this is
    double busySince = 0;
    Load load;
    bool isDirty = false, isReached = false;
    double left = 0, weight = 0; ///< capacity and weight left while sharing out
  };
  struct Flow {
    Path path;
    std::array<int, 4> place{}; ///< index in the list of each used resource
    double bytes = 0, left = 0, rate = 0, since = 0;
    std::uint64_t tag = 0;
    std::uint32_t version = 0;
    bool isReached = false, isShared = false;
  };

  void markDirty(int resource);
  bool isAlone(const Flow &flow) const;
  void setRate(int flow, double share, double now,
               const std::function<void(const Ending &)> &predicted);
  /// Collects the flows and resources that depend on this resource.
  void reach(int resource);
  void shareOut(double now, const std::function<void(const Ending &)> &predicted);

  double speed = 1; ///< the part of its rate at which each flow goes
  std::vector<Resource> resources;
  std::vector<Flow> flows;
  std::vector<int> freeFlows, dirty, reachedFlows, reachedResources;
};

} // namespace syncline::simulate

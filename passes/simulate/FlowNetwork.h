// FlowNetwork: flows over shared resources. The flows that use a resource share it fairly (max-min
// fairness): no flow could get more without another that has no more getting less.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace syncline::simulate {

/// A resource that a flow occupies: `weight` bytes of it for every byte of the flow.
struct Use {
  int resource = -1;
  double weight = 1;
};

/// Resources in the order in which a flow passes them, none twice; the first without a resource
/// ends the path.
using Path = std::array<Use, 4>;

/// Units: seconds and bytes. Not thread-safe.
class FlowNetwork {
public:
  /// When a flow will have ended, unless others come or go until then; `version` tells this
  /// prediction from earlier ones.
  struct Ending {
    int flow = 0;
    std::uint32_t version = 0;
    double time = 0;
  };

  /// What a resource has carried.
  struct Load {
    double bytes = 0;
    double busy = 0; ///< seconds in which at least one flow used it
  };

  /// Bytes per second; returns its number.
  int addResource(double capacity);
  int resourceCount() const { return static_cast<int>(resources.size()); }

  /// Returns the flow's number; numbers of ended flows are used again. Its ending is predicted by
  /// the next settle(). Preconditions: bytes > 0, the path is not empty, and times never decrease
  /// from call to call.
  int start(double now, const Path &path, double bytes, std::uint64_t tag);
  /// Whether the prediction still holds, so that the flow has ended at its time.
  bool isCurrent(const Ending &ending) const;
  /// Ends a flow and returns its tag. Precondition: isCurrent, at the ending's time.
  std::uint64_t finish(const Ending &ending);
  /// Shares what has changed since the last call out anew and reports every new prediction. Linear
  /// in the flows that the changes reach, times the logarithm of their resources.
  void settle(double now, const std::function<void(const Ending &)> &predicted);

  Load load(int resource) const;
  double capacity(int resource) const { return resources[resource].capacity; }

private:
  struct Resource {
    double capacity = 0;
    std::vector<std::pair<int, int>> flows; ///< and which of their uses
    double busySince = 0;
    Load load;
    bool isDirty = false, isReached = false;
    double left = 0, weight = 0; ///< while sharing out
  };
  struct Flow {
    Path path;
    std::array<int, 4> place{}; ///< in the resources' lists
    double bytes = 0, left = 0, rate = 0, since = 0;
    std::uint64_t tag = 0;
    std::uint32_t version = 0;
    bool isReached = false, isShared = false;
  };

  void markDirty(int resource);
  bool isAlone(const Flow &flow) const;
  void setRate(int flow, double rate, double now,
               const std::function<void(const Ending &)> &predicted);
  /// The flows and resources that depend on this resource.
  void reach(int resource);
  void shareOut(double now, const std::function<void(const Ending &)> &predicted);

  std::vector<Resource> resources;
  std::vector<Flow> flows;
  std::vector<int> freeFlows, dirty, reachedFlows, reachedResources;
};

} // namespace syncline::simulate

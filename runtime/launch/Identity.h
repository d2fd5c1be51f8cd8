// Which rank this process is, of how many, and where rank 0 is: from flags or from what torchrun,
// Open MPI or Slurm left in the environment.
#pragma once

#include "syncline/PlanConstants.h"
#include "syncline/Status.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace syncline {

/// Whom a plan needs.
struct RunShape {
  static constexpr int anyRanks = 0; ///< no plan: as many as were or are to be started
  int ranks = 1;                     ///< that compute
  int servers = 0;                   ///< processes of their own, which are the ranks behind these
  int ranksPerNode = 0; ///< as the plan expects them to be started; 0 where it does not say

  int processes() const { return ranks + servers; }
};

/// What the command line says; all optional.
struct IdentityFlags {
  std::optional<int> localRanks = {};   ///< -n, servers not counted
  std::optional<int> servers = {};      ///< --servers
  std::optional<int> ranksPerNode = {}; ///< --ranks-per-node
  std::optional<int> rank = {}, ranks = {};
  std::string masterAddress = {};
  std::optional<int> masterPort = {};
};

struct Identity {
  /// Not a rank itself: it is to start `size` ranks on this host.
  bool launchesLocally = false;
  int rank = 0, size = 1, localRank = 0;
  int machineRank = 0; ///< of the ranks on this machine, whatever the plan takes for a node
  int servers = 0;     ///< the last ones of `size`
  int localSize = 1;   ///< ranks on this node; the plan's number when the starter does not say
  std::string masterAddress = "127.0.0.1";
  int masterPort = 29500;
  int listener = -1;     ///< inherited by rank 0 from the launcher
  std::string interface; ///< GLOO_SOCKET_IFNAME

  int workers() const { return size - servers; }
  bool isServer() const { return rank >= workers(); }
};

/// Value of an environment variable, or nullptr.
using Environment = std::function<const char *(const char *)>;

/// Flags go before RANK/WORLD_SIZE/.. before OMPI_COMM_WORLD_* before SLURM_*. With none of them
/// this process starts all local ranks and servers of the plan, or is the only one. Errors:
/// badUsage for flags and variables that contradict each other or the plan, naming both, and for
/// more than maxLocalRanks to start.
Result<Identity> findIdentity(const IdentityFlags &flags, const Environment &environment,
                              const RunShape &plan);

/// First host of a Slurm node list: "gpu[003-007,9],login" is "gpu003". Empty when malformed.
std::string firstSlurmHost(std::string_view list);

/// Environment variables between the local launcher and its children.
inline constexpr const char *listenerVariable = "SYNCLINE_LISTENER",
                            *machineRankVariable = "SYNCLINE_MACHINE_RANK";
/// By which `syncline` tells the runtime's programs what was typed, such as "syncline run".
inline constexpr const char *commandVariable = "SYNCLINE_COMMAND";

} // namespace syncline

// Which rank this process is, of how many, and where rank 0 is: from flags or from what torchrun,
// Open MPI or Slurm left in the environment.
#pragma once

#include "syncline/Status.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace syncline {

/// What the command line says; all optional.
struct IdentityFlags {
  std::optional<int> localRanks; ///< -n
  std::optional<int> rank, ranks;
  std::string masterAddress;
  std::optional<int> masterPort;
};

struct Identity {
  /// Not a rank itself: it is to start `size` ranks on this host.
  bool launchesLocally = false;
  int rank = 0, size = 1, localRank = 0;
  int localSize = 1; ///< ranks on this host; 1 when the starter does not say
  std::string masterAddress = "127.0.0.1";
  int masterPort = 29500;
  int listener = -1;     ///< inherited by rank 0 from the launcher
  std::string interface; ///< GLOO_SOCKET_IFNAME
};

/// As many processes as one host is asked to start; a plan may be for more ranks than that.
inline constexpr int mostLocalRanks = 256;

/// Value of an environment variable, or nullptr.
using Environment = std::function<const char *(const char *)>;

/// Flags go before RANK/WORLD_SIZE/.. before OMPI_COMM_WORLD_* before SLURM_*. With none of them
/// this process starts `planRanks` local ranks, or is the only one. Errors: badUsage for flags and
/// variables that contradict each other or the plan, naming both, and for more than mostLocalRanks
/// to start.
Result<Identity> findIdentity(const IdentityFlags &flags, const Environment &environment,
                              int planRanks);

/// First host of a Slurm node list: "gpu[003-007,9],login" is "gpu003". Empty when malformed.
std::string firstSlurmHost(std::string_view list);

/// Environment variables between the local launcher and its children.
inline constexpr const char *listenerVariable = "SYNCLINE_LISTENER";

} // namespace syncline

// This process's rank, the number of ranks, and the address of rank 0: from flags, or from the
// environment variables of torchrun, Open MPI or Slurm.
#pragma once

#include "syncline/PlanConstants.h"
#include "syncline/Status.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace syncline::launch {

/// The numbers of processes that a plan needs.
struct RunShape {
  static constexpr int anyRanks = 0; ///< without a plan any number of ranks is accepted
  int ranks = 1;                     ///< workers
  int servers = 0;                   ///< dedicated servers, the ranks after the workers
  int ranksPerNode = 0;              ///< as the plan expects; 0 where the plan does not say
  bool sparesWorkers = false;        ///< whether the run goes on without workers but for rank 0

  int processes() const { return ranks + servers; }
};

/// The values of the command line's flags; all are optional.
struct IdentityFlags {
  std::optional<int> localRanks = {};   ///< -n, without servers
  bool pins = false;                    ///< --pin
  std::optional<int> servers = {};      ///< --servers
  std::optional<int> ranksPerNode = {}; ///< --ranks-per-node
  std::optional<int> rank = {}, ranks = {};
  std::string masterAddress = {};
  std::optional<int> masterPort = {};
};

struct Identity {
  /// This process is no rank; it starts `size` ranks on this host.
  bool launchesLocally = false;
  int rank = 0, size = 1, localRank = 0;
  /// Number among the ranks on this machine, which may differ from the plan's node.
  int machineRank = 0;
  int servers = 0;   ///< number of servers, the last of the `size` ranks
  int localSize = 1; ///< ranks on this node; the plan's number when the launcher does not say
  std::string masterAddress = "127.0.0.1";
  int masterPort = 29500;
  int listener = -1;     ///< listening socket that rank 0 inherits from the local launcher
  std::string interface; ///< GLOO_SOCKET_IFNAME

  int workers() const { return size - servers; }
  bool isServer() const { return rank >= workers(); }
};

/// Returns the value of an environment variable, or nullptr.
using Environment = std::function<const char *(const char *)>;

/// Finds the identity. Flags take precedence over RANK, WORLD_SIZE and so on, these over
/// OMPI_COMM_WORLD_*, and these over SLURM_*. Without any of them this process starts all ranks
/// and servers of the plan on this host, or is the only rank. Errors: badUsage for flags and
/// variables that contradict each other or the plan, naming both, for starting more than
/// maxLocalRanks ranks, and for local ranks that should meet on another host.
Result<Identity> findIdentity(const IdentityFlags &flags, const Environment &environment,
                              const RunShape &plan);

/// The first host of a Slurm node list: "gpu003" for "gpu[003-007,9],login". Empty when the
/// list is malformed.
std::string firstSlurmHost(std::string_view list);

/// Environment variables by which the local launcher passes values to its children.
inline constexpr const char *listenerVariable = "SYNCLINE_LISTENER",
                            *machineRankVariable = "SYNCLINE_MACHINE_RANK";
/// The environment variable by which `syncline` passes the typed command, such as "syncline run",
/// to the runtime's programs.
inline constexpr const char *commandVariable = "SYNCLINE_COMMAND";

} // namespace syncline::launch

// This process's rank, the number of ranks, and the address of rank 0: from flags, or from the
// environment variables of launchers.
#pragma once

#include "runtime/launch/Starters.h"
#include "syncline/PlanConstants.h"
#include "syncline/Status.h"

#include <optional>
#include <string>

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
  std::optional<int> ranksPerNode = {}; ///< --ranks-per-node
  std::optional<int> rank = {}, ranks = {};
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
  /// What all ranks of this job have in common, and no other job. Empty where nothing says so.
  std::string job;

  int workers() const { return size - servers; }
  bool isServer() const { return rank >= workers(); }
};

/// Finds the identity. Flags take precedence over the variables of launchers (Starters.h), which
/// must agree; beside --rank, MASTER_ADDR and MASTER_PORT say where rank 0 is, and local ranks
/// ignore them. Without flags and variables this process starts all ranks and servers of the plan
/// on this host, or is the only rank; so it does with -n where a launcher started it alone. A
/// Kubernetes index counts where the plan has several processes and, beside -n, where MASTER_ADDR
/// says where they meet. The job is that of SYNCLINE_JOB, else that of the launcher.
///
/// Errors: badUsage for flags and variables that contradict each other or the plan, naming both;
/// for more than maxLocalRanks local ranks; and for starting, without -n, all ranks on the first of
/// several hosts of a Slurm job.
Result<Identity> findIdentity(const IdentityFlags &flags, const Environment &environment,
                              const RunShape &plan);

/// Environment variables by which the local launcher passes values to its children.
inline constexpr const char *listenerVariable = "SYNCLINE_LISTENER",
                            *machineRankVariable = "SYNCLINE_MACHINE_RANK";
/// The environment variable of what only ranks of this run know. The local launcher sets it; where
/// something else starts the ranks, the user may.
inline constexpr const char *secretVariable = "SYNCLINE_SECRET";
/// The environment variable by which `syncline` passes the typed command, such as "syncline run",
/// to the runtime's programs.
inline constexpr const char *commandVariable = "SYNCLINE_COMMAND";

} // namespace syncline::launch

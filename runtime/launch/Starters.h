// What the environment variables of each launcher say of this process.
#pragma once

#include "syncline/Status.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::launch {

/// Returns the value of an environment variable, or nullptr.
using Environment = std::function<const char *(const char *)>;

/// Reads environment variables and remembers the first one that is no number.
class EnvironmentReader {
public:
  explicit EnvironmentReader(const Environment &environment) : environment(environment) {}

  /// The value; empty where the variable is not set.
  std::string text(const char *name) const;
  /// The value as a number from 0; nothing where the variable is not set.
  std::optional<int> number(const char *name);
  /// Errors: badUsage, naming a variable that should have been a number.
  const Status &status() const { return firstError; }

private:
  const Environment &environment;
  Status firstError;
};

/// What starts processes. An earlier one may be started by a later one: `srun torchrun ..`.
enum class StarterKind {
  variables, ///< RANK and WORLD_SIZE: torchrun's, or those of a script
  node,      ///< PET_*: a node on which torchrun would start ranks
  mpi,       ///< Open MPI, MPICH, Intel MPI, PMIx
  slurm,     ///< a step of Slurm
  kubernetes ///< an indexed Job
};

/// A launcher's word on this process.
struct Started {
  StarterKind kind;
  std::string launcher;                   ///< its name in messages
  std::string rankVariable, sizeVariable; ///< the latter is empty where the size is not said
  int rank = 0;
  std::optional<int> size = {}, localRank = {}, localSize = {};
  /// Ranks need not follow the order of what started their launcher: torchrun's.
  bool reorders = false;
  /// There is one process on each node, which may be another launcher's daemon.
  bool isOnePerNode = false;
  std::string address = {};     ///< rank 0's host, where the launcher says it
  std::optional<int> port = {}; ///< a port of this job, where the launcher has one
  std::string job = {};         ///< the same for all ranks of a job, and for no others

  /// The rank, and the size where it is said, as text: "'RANK=1' of 'WORLD_SIZE=4'".
  std::string describe() const;
  /// Whether the other launcher can have started this one, or has started the same rank.
  bool agreesWith(const Started &outer) const;
  /// Whether both say the same rank, and the same size where both say it.
  bool isSameAs(const Started &other) const;
};

/// All launchers that left variables, an inner one before those that may have started it. Errors:
/// badUsage for variables that are malformed or incomplete, and for those of a node on which
/// torchrun should run but does not.
Result<std::vector<Started>> findStarted(EnvironmentReader &variables);

/// The variables of all launchers, which a local rank must not have.
std::vector<std::string> starterVariables();

/// The first host of a Slurm node list: "gpu003" for "gpu[003-007,9],login". Empty when the
/// list is malformed.
std::string firstSlurmHost(std::string_view list);

/// The environment variable by which a user names a job.
inline constexpr const char *jobVariable = "SYNCLINE_JOB";

} // namespace syncline::launch

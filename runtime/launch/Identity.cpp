// Finding the identity from flags and the environment.
#include "runtime/launch/Identity.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace syncline::launch {
namespace {

Status usage(std::string message) { return Status::error(ErrorKind::badUsage, std::move(message)); }

/// Errors: badUsage for launchers that contradict each other, naming two.
Status checkAgreement(const std::vector<Started> &all) {
  for (auto inner = all.begin(); inner != all.end(); ++inner)
    for (auto outer = inner + 1; outer != all.end(); ++outer)
      if (!inner->agreesWith(*outer))
        return usage(inner->describe() + " (" + inner->launcher + ") contradicts " +
                     outer->describe() + " (" + outer->launcher +
                     "): unset the variables of the launcher that did not start this process, or "
                     "give '--rank' and '--ranks'");
  return Status::ok();
}

/// The innermost launcher's word, completed by those that started the same rank. `all` has one.
Started combined(const std::vector<Started> &all) {
  Started found = all[0];
  const auto complete = [](auto &value, const auto &other) { value = value ? value : other; };
  for (const Started &other : all) {
    if (!found.isSameAs(other))
      continue;
    if (!found.size)
      found.sizeVariable = other.sizeVariable;
    complete(found.size, other.size);
    complete(found.localRank, other.localRank);
    complete(found.localSize, other.localSize);
    complete(found.port, other.port);
    if (found.address.empty())
      found.address = other.address;
  }
  return found;
}

/// The number of ranks that the plan has, for a launcher that does not say it.
Status takeSize(Started &started, const RunShape &plan) {
  if (plan.ranks == RunShape::anyRanks)
    return usage(started.describe() + " (" + started.launcher +
                 ") does not say how many ranks there are: expected '--rank' and '--ranks'");
  if (started.rank >= plan.processes())
    return usage(started.describe() + " (" + started.launcher + ") is none of the plan's " +
                 std::to_string(plan.processes()) + " processes");
  started.size = plan.processes();
  return Status::ok();
}

/// Reads where rank 0 serves: MASTER_ADDR and MASTER_PORT, else what the launcher says.
Status findMeeting(const Started &started, EnvironmentReader &variables, Identity &id) {
  const std::string address = variables.text("MASTER_ADDR");
  id.masterAddress = !address.empty() ? address : id.size == 1 ? id.masterAddress : started.address;
  if (id.masterAddress.empty())
    return usage("started by " + started.launcher +
                 " without 'MASTER_ADDR': set it to the host of rank 0");
  constexpr int maxPort = 65535;
  const auto given = variables.number("MASTER_PORT");
  const int port = given.value_or(started.port.value_or(id.masterPort));
  if (!variables.status())
    return variables.status();
  if (port > maxPort - 1 || port < 1)
    return usage("environment variable 'MASTER_PORT': expected a port from 1 to " +
                 std::to_string(maxPort - 1) + ", got '" + variables.text("MASTER_PORT") + "'");
  // torchrun's agent listens on the port that it announces in MASTER_PORT.
  const std::string agent = variables.text("TORCHELASTIC_USE_AGENT_STORE");
  const bool isAgents = given && (agent == "True" || agent == "true" || agent == "1");
  id.masterPort = port + (isAgents ? 1 : 0);
  return Status::ok();
}

/// The identity of a launcher's rank.
Result<Identity> fromStarted(const Started &started, EnvironmentReader &variables, Identity id) {
  id.rank = started.rank;
  id.size = *started.size;
  id.localSize = started.localSize.value_or(id.localSize);
  id.localRank = started.localRank.value_or(id.rank % std::max(1, id.localSize));
  id.machineRank = variables.number(machineRankVariable).value_or(id.localRank);
  id.listener = variables.number(listenerVariable).value_or(-1);
  SYNCLINE_TRY(findMeeting(started, variables, id));
  return id;
}

/// The job's name: the user's, else that of the first launcher that has one. A user who types ranks
/// may type them on hosts of several jobs.
Result<std::string> findJob(const std::vector<Started> &all, const EnvironmentReader &variables) {
  constexpr std::size_t longest = 200;
  std::string job = variables.text(jobVariable);
  for (auto started = all.begin(); started != all.end() && job.empty(); ++started)
    job = started->job;
  if (job.size() > longest)
    return usage("the name of the job is longer than " + std::to_string(longest) + " bytes: '" +
                 job.substr(0, 40) + "..'; '" + jobVariable + "' sets another");
  return job;
}

/// Whether -n starts ranks here although a launcher started this process: alone, or as one of many
/// pods that do not say where they would meet.
bool isForLocalRanks(const Started &started, const EnvironmentReader &variables) {
  return started.size == 1 ||
         (started.kind == StarterKind::kubernetes && variables.text("MASTER_ADDR").empty());
}

/// The first of several hosts of a Slurm job is not taken for all of them.
Status checkHosts(const Identity &id, EnvironmentReader &variables) {
  const char *variable = "SLURM_JOB_NUM_NODES";
  const int hosts = variables.number(variable).value_or(1);
  if (!variables.status() || hosts == 1 || !id.launchesLocally)
    return variables.status();
  return usage("'" + std::string(variable) + "=" + std::to_string(hosts) +
               "', but no step of Slurm started this process: expected 'srun' before the command, "
               "or '-n " +
               std::to_string(id.workers()) + "' for all ranks on this host");
}

Result<Identity> fromFlags(const IdentityFlags &flags, Identity id) {
  if (!flags.rank || !flags.ranks)
    return usage("'--rank' and '--ranks' go together");
  if (*flags.rank < 0 || *flags.rank >= *flags.ranks)
    return usage("'--rank " + std::to_string(*flags.rank) + "' is no rank of '--ranks " +
                 std::to_string(*flags.ranks) + "'");
  id.rank = *flags.rank;
  id.localRank = id.machineRank = id.rank % id.localSize;
  id.size = *flags.ranks;
  return id;
}

/// The plan's processes as text: "4 ranks", "4 ranks and 2 servers".
std::string describe(const RunShape &plan) {
  std::string text = std::to_string(plan.ranks) + (plan.ranks == 1 ? " rank" : " ranks");
  if (plan.servers == 0)
    return text;
  return text + " and " + std::to_string(plan.servers) +
         (plan.servers == 1 ? " server" : " servers");
}

/// Checks the flags against the plan.
Status checkFlags(const IdentityFlags &flags, const RunShape &plan) {
  if (flags.ranksPerNode && plan.ranksPerNode > 0 && *flags.ranksPerNode != plan.ranksPerNode)
    return usage("the plan is for " + std::to_string(plan.ranksPerNode) +
                 " ranks a node, '--ranks-per-node' says " + std::to_string(*flags.ranksPerNode));
  return Status::ok();
}

/// The advice to compile a plan for so many ranks. Empty where these ranks do not fill nodes of the
/// plan's size, or where the plan has servers.
std::string howToCompileFor(int ranks, const RunShape &plan) {
  const int perNode = std::max(plan.ranksPerNode, 1);
  if (plan.servers > 0 || ranks < 1 || ranks % perNode != 0)
    return "";
  return "; 'compile --nodes " + std::to_string(ranks / perNode) + "' makes one that fits";
}

/// Checks that the number of processes is the plan's. `source` names where the number comes from.
Status checkSize(const Identity &id, const RunShape &plan, const std::string &source) {
  if (plan.ranks == RunShape::anyRanks)
    return Status::ok();
  if (id.launchesLocally || plan.servers == 0) {
    if (id.workers() == plan.ranks)
      return Status::ok();
    return usage("the plan is for " + describe(plan) + ", " + source + " says " +
                 std::to_string(id.workers()) + howToCompileFor(id.workers(), plan));
  }
  if (id.size == plan.processes())
    return Status::ok();
  return usage("the plan is for " + describe(plan) + ", " + std::to_string(plan.processes()) +
               " processes together; " + source + " says " + std::to_string(id.size));
}

/// Where the identity comes from: as text for messages, and the launchers that left variables.
struct Source {
  std::string text;
  std::vector<Started> starters = {};
};

Result<Source> takeFlags(const IdentityFlags &flags, EnvironmentReader &variables, Identity &id) {
  if (flags.localRanks)
    return usage("'-n' starts local ranks; it does not go with '--rank' and '--ranks'");
  SYNCLINE_TRY_GET(found, fromFlags(flags, id));
  id = *found;
  Started typed{};
  typed.address = id.masterAddress;
  SYNCLINE_TRY(findMeeting(typed, variables, id));
  return Source{"the command line"};
}

/// This process starts the ranks.
Result<Source> takeLocalRanks(const IdentityFlags &flags, EnvironmentReader &variables,
                              const RunShape &plan, Identity &id) {
  const int ranks = flags.localRanks.value_or(std::max(plan.ranks, 1));
  if (__builtin_add_overflow(ranks, plan.servers, &id.size))
    return usage("'-n " + std::to_string(ranks) + "': more ranks than can be counted");
  id.launchesLocally = id.size > 1;
  if (!flags.localRanks)
    SYNCLINE_TRY(checkHosts(id, variables));
  return Source{"'-n'"};
}

/// The identity by launchers' variables, else that of a process which starts the ranks.
Result<Source> takeLauncher(const IdentityFlags &flags, EnvironmentReader &variables,
                            const RunShape &plan, Identity &id) {
  SYNCLINE_TRY_GET(all, findStarted(variables));
  // Pods of an indexed Job may each train by themselves.
  if (plan.processes() == 1 && !all->empty() && all->back().kind == StarterKind::kubernetes)
    all->pop_back();
  SYNCLINE_TRY(checkAgreement(*all));
  if (all->empty())
    return takeLocalRanks(flags, variables, plan, id);
  Started started = combined(*all);
  if (flags.localRanks && isForLocalRanks(started, variables))
    return takeLocalRanks(flags, variables, plan, id);
  if (!started.size)
    SYNCLINE_TRY(takeSize(started, plan));
  SYNCLINE_TRY_GET(found, fromStarted(started, variables, id));
  id = *found;
  const std::string text =
      started.sizeVariable.empty() ? "the plan" : "'" + started.sizeVariable + "'";
  if (flags.localRanks && *flags.localRanks != id.workers())
    return usage("'-n " + std::to_string(*flags.localRanks) + "' contradicts " + text +
                 ", which says " + std::to_string(id.size) + " ranks");
  return Source{text, std::move(*all)};
}

/// Checks what concerns ranks that this process starts.
Status checkLocalRanks(const Identity &id) {
  if (id.launchesLocally && id.size > maxLocalRanks)
    return usage(std::to_string(id.size) + " ranks on one host: at most " +
                 std::to_string(maxLocalRanks) +
                 " are started here; start them on several hosts by torchrun, mpirun or srun");
  return Status::ok();
}

} // namespace

Result<Identity> findIdentity(const IdentityFlags &flags, const Environment &environment,
                              const RunShape &plan) {
  SYNCLINE_TRY(checkFlags(flags, plan));
  EnvironmentReader variables(environment);
  Identity id;
  id.servers = plan.servers;
  // The value until a launcher's variables replace it.
  id.localSize = flags.ranksPerNode.value_or(plan.ranksPerNode > 0 ? plan.ranksPerNode : 1);
  id.interface = variables.text("GLOO_SOCKET_IFNAME");
  SYNCLINE_TRY_GET(source, flags.rank || flags.ranks ? takeFlags(flags, variables, id)
                                                     : takeLauncher(flags, variables, plan, id));
  SYNCLINE_TRY_GET(job, findJob(source->starters, variables));
  id.job = *job;
  SYNCLINE_TRY(checkSize(id, plan, source->text));
  if (flags.ranksPerNode) {
    id.localSize = *flags.ranksPerNode;
    id.localRank = id.rank % id.localSize;
  }
  SYNCLINE_TRY(checkLocalRanks(id));
  return id;
}

} // namespace syncline::launch

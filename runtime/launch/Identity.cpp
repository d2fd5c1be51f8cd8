// Finding the identity from flags and the environment.
#include "runtime/launch/Identity.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace syncline::launch {
namespace {

Status usage(std::string message) { return Status::error(ErrorKind::badUsage, std::move(message)); }

/// Reads environment variables and remembers the first one that is no number.
class Reader {
public:
  explicit Reader(const Environment &environment) : environment(environment) {}

  std::string text(const char *name) const {
    const char *value = environment(name);
    return value ? value : "";
  }
  std::optional<int> number(const char *name) {
    std::string value = text(name);
    if (value.empty())
      return std::nullopt;
    int n = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if ((error != std::errc() || end != value.data() + value.size() || n < 0) && status)
      status = usage("environment variable '" + std::string(name) + "': expected a number, got '" +
                     value + "'");
    return n;
  }
  Status status;

private:
  const Environment &environment;
};

/// The environment variables of one launcher.
struct Starter {
  const char *name, *rank, *size, *localRank, *localSize;
};
constexpr Starter starters[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},
};

/// The address of rank 0 when MASTER_ADDR is not set.
Result<std::string> deriveAddress(const Starter &starter, Reader &reader, int size) {
  if (size == 1)
    return std::string("127.0.0.1");
  if (std::strcmp(starter.name, "Slurm") == 0) {
    for (const char *variable : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"})
      if (std::string list = reader.text(variable); !list.empty()) {
        if (std::string host = firstSlurmHost(list); !host.empty())
          return host;
        return usage("environment variable '" + std::string(variable) + "': no node list: '" +
                     list + "'");
      }
  } else if (reader.number("OMPI_COMM_WORLD_LOCAL_SIZE") == size) {
    return std::string("127.0.0.1");
  }
  return usage(std::string("started by ") + starter.name +
               " without 'MASTER_ADDR': set it to the host of rank 0");
}

/// The port of rank 0. Under Slurm it depends on the job's number, so that two jobs on one host use
/// different ports.
int derivePort(const Starter &starter, Reader &reader) {
  constexpr int first = 20000, count = 20000;
  if (std::strcmp(starter.name, "Slurm") == 0)
    if (auto job = reader.number("SLURM_JOB_ID"))
      return first + *job % count;
  return 29500;
}

/// Whether the announced port is taken: torchrun's agent listens on it.
bool isPortTaken(const Reader &reader) {
  std::string value = reader.text("TORCHELASTIC_USE_AGENT_STORE");
  return value == "True" || value == "true" || value == "1";
}

/// Fills in rank and size. Returns false when this launcher did not start the process.
Result<bool> readStarter(const Starter &starter, Reader &reader, Identity &id) {
  auto rank = reader.number(starter.rank), size = reader.number(starter.size);
  if (std::strcmp(starter.name, "Slurm") == 0)
    if (auto step = reader.number("SLURM_STEP_NUM_TASKS"))
      size = step;
  if (!reader.status)
    return reader.status;
  // Slurm sets the number of tasks also in shells that are no task.
  if (!rank && (!size || std::strcmp(starter.name, "Slurm") == 0))
    return false;
  if (!rank || !size)
    return usage("environment variable '" + std::string(rank ? starter.rank : starter.size) +
                 "' is set, but '" + (rank ? starter.size : starter.rank) + "' is not");
  if (*rank >= *size)
    return usage(std::string("'") + starter.rank + "=" + std::to_string(*rank) +
                 "' is no rank of '" + starter.size + "=" + std::to_string(*size) + "'");
  id.rank = *rank;
  id.size = *size;
  id.localSize = reader.number(starter.localSize).value_or(id.localSize);
  id.localRank = reader.number(starter.localRank).value_or(*rank % std::max(1, id.localSize));
  id.machineRank = reader.number(machineRankVariable).value_or(id.localRank);
  std::string address = reader.text("MASTER_ADDR");
  if (address.empty()) {
    Result<std::string> derived = deriveAddress(starter, reader, *size);
    if (!derived)
      return derived.status();
    address = *derived;
  }
  id.masterAddress = address;
  constexpr int maxPort = 65535;
  const int port = reader.number("MASTER_PORT").value_or(derivePort(starter, reader));
  if (port > maxPort - 1 || (port < 1 && reader.status))
    return usage("environment variable 'MASTER_PORT': expected a port from 1 to " +
                 std::to_string(maxPort - 1) + ", got '" + reader.text("MASTER_PORT") + "'");
  id.masterPort = port + (isPortTaken(reader) ? 1 : 0);
  id.listener = reader.number(listenerVariable).value_or(-1);
  if (!reader.status)
    return reader.status;
  return true;
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
  std::string text = std::to_string(plan.ranks) + " ranks";
  if (plan.servers == 0)
    return text;
  return text + " and " + std::to_string(plan.servers) +
         (plan.servers == 1 ? " server" : " servers");
}

/// Checks the flags against the plan.
Status checkFlags(const IdentityFlags &flags, const RunShape &plan) {
  if (flags.servers && *flags.servers != plan.servers)
    return usage("the plan has " + (plan.servers == 0 ? "no" : std::to_string(plan.servers)) +
                 (plan.servers == 1 ? " server" : " servers") + ", '--servers' says " +
                 std::to_string(*flags.servers));
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

} // namespace

Result<Identity> findIdentity(const IdentityFlags &flags, const Environment &environment,
                              const RunShape &plan) {
  if (Status s = checkFlags(flags, plan); !s)
    return s;
  Reader reader(environment);
  Identity id;
  id.servers = plan.servers;
  // The value until a launcher's variables replace it.
  id.localSize = flags.ranksPerNode.value_or(plan.ranksPerNode > 0 ? plan.ranksPerNode : 1);
  id.interface = reader.text("GLOO_SOCKET_IFNAME");
  std::string source = "the command line";
  bool isRank = false;
  if (flags.rank || flags.ranks) {
    if (flags.localRanks)
      return usage("'-n' starts local ranks; it does not go with '--rank' and '--ranks'");
    Result<Identity> found = fromFlags(flags, id);
    if (!found)
      return found;
    id = *found;
    isRank = true;
  }
  for (const Starter &starter : starters) {
    if (isRank)
      break;
    Result<bool> found = readStarter(starter, reader, id);
    if (!found)
      return found.status();
    isRank = *found;
    if (isRank)
      source = std::string("'") + starter.size + "'";
  }
  if (isRank && flags.localRanks && *flags.localRanks != id.workers())
    return usage("'-n " + std::to_string(*flags.localRanks) + "' contradicts " + source +
                 ", which says " + std::to_string(id.size) + " ranks");
  if (!isRank) {
    const int ranks = flags.localRanks.value_or(std::max(plan.ranks, 1));
    if (__builtin_add_overflow(ranks, plan.servers, &id.size))
      return usage("'-n " + std::to_string(ranks) + "': more ranks than can be counted");
    id.launchesLocally = id.size > 1;
    source = "'-n'";
  }
  if (Status s = checkSize(id, plan, source); !s)
    return s;
  if (flags.ranksPerNode) {
    id.localSize = *flags.ranksPerNode;
    id.localRank = id.rank % id.localSize;
  }
  if (id.launchesLocally && id.size > maxLocalRanks)
    return usage(std::to_string(id.size) + " ranks on one host: at most " +
                 std::to_string(maxLocalRanks) +
                 " are started here; start them on several hosts by torchrun, mpirun or srun");
  if (id.launchesLocally && !flags.masterAddress.empty() && flags.masterAddress != "localhost" &&
      flags.masterAddress != id.masterAddress)
    return usage("'--master-addr " + flags.masterAddress +
                 "' is where ranks of several hosts meet, "
                 "but this process starts all ranks on this one: expected '--rank' and '--ranks' "
                 "with it, or none");
  if (!flags.masterAddress.empty())
    id.masterAddress = flags.masterAddress;
  if (flags.masterPort)
    id.masterPort = *flags.masterPort;
  return id;
}

std::string firstSlurmHost(std::string_view list) {
  std::size_t end = list.find_first_of(",[");
  std::string host(list.substr(0, end));
  if (end == std::string_view::npos || list[end] == ',')
    return host;
  std::string_view inside = list.substr(end + 1);
  std::size_t close = inside.find(']');
  if (close == std::string_view::npos)
    return {};
  std::string_view range = inside.substr(0, close);
  std::string_view first = range.substr(0, range.find_first_of(",-"));
  if (first.empty())
    return {};
  // A name may continue after the brackets with further brackets: "r[1-2]n[01-04]".
  std::string_view rest = inside.substr(close + 1);
  rest = rest.substr(0, rest.starts_with(',') ? 0 : rest.size());
  return host + std::string(first) + (rest.empty() ? "" : firstSlurmHost(rest));
}

} // namespace syncline::launch

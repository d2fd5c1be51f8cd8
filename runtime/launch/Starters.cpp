// Reading the variables of torchrun, Open MPI, MPICH, Intel MPI, PMIx, Slurm and Kubernetes.
#include "runtime/launch/Starters.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>

namespace syncline::launch {
namespace {

Status unusable(std::string message) {
  return Status::error(ErrorKind::badUsage, std::move(message));
}

std::string quoted(const std::string &variable, int value) {
  return "'" + variable + "=" + std::to_string(value) + "'";
}

/// The names of a launcher's variables.
struct Names {
  const char *launcher, *rank, *size, *localRank, *localSize;
};

constexpr Names byVariables{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    openMpi{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    pmi{"MPICH or Intel MPI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    petNode{"torchrun", "PET_NODE_RANK", "PET_NNODES", nullptr, nullptr},
    elasticPetNode{"torchrun", "PET_NODE_RANK", nullptr, nullptr, nullptr},
    pmix{"PMIx", "PMIX_RANK", nullptr, nullptr, nullptr},
    kubernetes{"Kubernetes", "JOB_COMPLETION_INDEX", nullptr, nullptr, nullptr};

/// The launcher's word; nothing where it has left no variables.
Result<std::optional<Started>> read(const Names &names, StarterKind kind,
                                    EnvironmentReader &variables) {
  const auto number = [&](const char *name) {
    return name ? variables.number(name) : std::optional<int>();
  };
  const std::optional<int> rank = number(names.rank), size = number(names.size);
  Started found{kind,
                names.launcher,
                names.rank,
                names.size ? names.size : "",
                0,
                size,
                number(names.localRank),
                number(names.localSize)};
  if (!variables.status())
    return variables.status();
  if (!rank && !size)
    return std::optional<Started>();
  if (names.size && (!rank || !size))
    return unusable("environment variable '" + std::string(rank ? names.rank : names.size) +
                    "' is set, but '" + (rank ? names.size : names.rank) + "' is not");
  found.rank = *rank;
  if (size && *rank >= *size)
    return unusable(quoted(names.rank, *rank) + " is no rank of " + quoted(names.size, *size));
  if (found.localSize && found.localSize == size)
    found.address = "127.0.0.1";
  return std::optional(std::move(found));
}

/// The number of nodes that torchrun's own variables say; nothing where it may vary.
std::optional<int> numberOfNodes(EnvironmentReader &variables) {
  const std::string nodes = variables.text("PET_NNODES");
  return nodes.find(':') == std::string::npos ? variables.number("PET_NNODES") : std::nullopt;
}

/// The advice for a node on which torchrun should have been started.
Status needsTorchrun(const std::string &variable, const std::string &value) {
  return unusable("environment variable '" + variable + "=" + value +
                  "' is for torchrun, which did not start this process: expected 'torchrun "
                  "--no-python -- syncline ..', which starts the ranks of a node");
}

/// A node for torchrun, which has not been started there. With one process a node it is a rank. A
/// script may have set RANK for processes of its own.
Result<std::optional<Started>> readNode(EnvironmentReader &variables) {
  const auto isSet = [&](const char *name) { return !variables.text(name).empty(); };
  if (isSet("TORCHELASTIC_RUN_ID"))
    return std::optional<Started>();
  const std::string perNode = variables.text("PET_NPROC_PER_NODE");
  const bool isCount = perNode.find_first_not_of("0123456789") == std::string::npos;
  const bool isOne = perNode.empty() || perNode == "1";
  if (isSet("RANK") && isCount && !isOne && !isSet("LOCAL_RANK"))
    return needsTorchrun("PET_NPROC_PER_NODE", perNode);
  const std::optional<int> nodes = numberOfNodes(variables);
  if (!isSet("PET_NNODES") || nodes == 1)
    return std::optional<Started>();
  if (isOne && isSet("PET_NODE_RANK")) {
    Result<std::optional<Started>> found =
        read(nodes ? petNode : elasticPetNode, StarterKind::node, variables);
    if (found && *found) {
      (*found)->address = variables.text("PET_MASTER_ADDR");
      (*found)->port = variables.number("PET_MASTER_PORT");
    }
    return found;
  }
  if (isSet("RANK"))
    return std::optional<Started>();
  return isOne ? needsTorchrun("PET_NNODES", variables.text("PET_NNODES"))
               : needsTorchrun("PET_NPROC_PER_NODE", perNode);
}

/// Whether srun started this process. A batch script is the first task of its job by its variables,
/// though it is no step; a script that Slurm counts as one has a reserved number.
bool isSlurmTask(const EnvironmentReader &variables, int rank) {
  constexpr std::uint64_t firstReserved = 0xfffffff0;
  const std::string text = variables.text("SLURM_STEP_ID");
  if (text.empty())
    return rank > 0 || !variables.text("SLURM_STEP_NUM_TASKS").empty();
  std::uint64_t step = 0;
  std::from_chars(text.data(), text.data() + text.size(), step);
  return step < firstReserved;
}

/// The tasks of each node: "4" or "4(x2)". Nothing where nodes differ: "4(x2),3".
std::optional<int> tasksOfANode(const std::string &text) {
  int tasks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tasks);
  const std::string_view rest(end, text.data() + text.size());
  if (error != std::errc() || rest.find(',') != std::string_view::npos)
    return std::nullopt;
  return tasks;
}

/// The first host of the step, or of the job. Empty where Slurm says none.
Result<std::string> firstHostOfSlurm(const EnvironmentReader &variables, bool ofStep) {
  for (const char *variable : {ofStep ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST",
                               "SLURM_JOB_NODELIST", "SLURM_NODELIST"})
    if (std::string list = variables.text(variable); !list.empty()) {
      if (std::string host = firstSlurmHost(list); !host.empty())
        return host;
      return unusable("environment variable '" + std::string(variable) + "': no node list: '" +
                      list + "'");
    }
  return std::string();
}

/// A step of Slurm. Two jobs on one host use different ports, by the job's number.
Result<std::optional<Started>> readSlurm(EnvironmentReader &variables) {
  const std::optional<int> rank = variables.number("SLURM_PROCID");
  if (!rank || !isSlurmTask(variables, *rank))
    return std::optional<Started>();
  const bool saysStep = !variables.text("SLURM_STEP_NUM_TASKS").empty();
  const Names names{"Slurm", "SLURM_PROCID", saysStep ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS",
                    "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"};
  Result<std::optional<Started>> found = read(names, StarterKind::slurm, variables);
  if (!found || !*found)
    return found;
  Started &task = **found;
  if (const std::string tasks = variables.text("SLURM_STEP_TASKS_PER_NODE"); !tasks.empty())
    task.localSize = tasksOfANode(tasks);
  task.isOnePerNode = variables.number("SLURM_STEP_NUM_NODES") == task.size;
  if (task.size == 1) {
    task.address = "127.0.0.1";
  } else {
    SYNCLINE_TRY_GET(host, firstHostOfSlurm(variables, /*ofStep=*/true));
    task.address = *host;
  }
  constexpr int firstPort = 20000, ports = 20000;
  if (const std::optional<int> job = variables.number("SLURM_JOB_ID")) {
    task.port = firstPort + *job % ports;
    // A shell of one task starts what other hosts may take part in, outside of this job.
    if (task.size != 1)
      task.job = "Slurm job " + std::to_string(*job);
  }
  return found;
}

/// Names the jobs. A step is part of the name only where Slurm itself started the ranks, because
/// other launchers may be started by several steps.
void nameJobs(std::vector<Started> &all, const EnvironmentReader &variables) {
  for (Started &started : all) {
    const auto take = [&](const char *what, const char *variable) {
      if (const std::string value = variables.text(variable); started.job.empty() && !value.empty())
        started.job = std::string(what) + " " + value;
    };
    if (started.kind == StarterKind::variables && variables.text("TORCHELASTIC_RUN_ID") != "none")
      take("torchrun's run", "TORCHELASTIC_RUN_ID");
    if (started.kind == StarterKind::mpi && started.launcher == pmi.launcher)
      take("PMI job", "PMI_JOBID");
    else if (started.kind == StarterKind::mpi)
      take("PMIx job", "PMIX_NAMESPACE");
  }
  if (!all.empty() && all[0].kind == StarterKind::slurm && !all[0].job.empty())
    if (const std::string step = variables.text("SLURM_STEP_ID"); !step.empty())
      all[0].job += "." + step;
}

} // namespace

std::string EnvironmentReader::text(const char *name) const {
  const char *value = environment(name);
  return value ? value : "";
}

std::optional<int> EnvironmentReader::number(const char *name) {
  const std::string value = text(name);
  if (value.empty())
    return std::nullopt;
  int n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if ((error != std::errc() || end != value.data() + value.size() || n < 0) && firstError)
    firstError = unusable("environment variable '" + std::string(name) +
                          "': expected a number, got '" + value + "'");
  return n;
}

std::string Started::describe() const {
  return quoted(rankVariable, rank) + (size ? " of " + quoted(sizeVariable, *size) : "");
}

bool Started::isSameAs(const Started &other) const {
  return rank == other.rank && (!size || !other.size || size == other.size);
}

bool Started::agreesWith(const Started &outer) const {
  if (isSameAs(outer))
    return true;
  if (kind == outer.kind)
    return false;
  const int perNode = localSize.value_or(1);
  const bool mayDiffer = reorders || perNode > 1;
  if (outer.size == 1)
    return true;
  if (!outer.size)
    return mayDiffer;
  if (size && mayDiffer && *size == static_cast<std::int64_t>(*outer.size) * perNode)
    return true;
  // Slurm started the daemons of an MPI, one on each node but perhaps the first.
  return outer.isOnePerNode && (!size || *outer.size < *size);
}

Result<std::vector<Started>> findStarted(EnvironmentReader &variables) {
  std::vector<Started> all;
  Result<std::optional<Started>> each[] = {
      read(byVariables, StarterKind::variables, variables),
      readNode(variables),
      read(openMpi, StarterKind::mpi, variables),
      read(pmi, StarterKind::mpi, variables),
      read(pmix, StarterKind::mpi, variables),
      readSlurm(variables),
      read(kubernetes, StarterKind::kubernetes, variables),
  };
  for (Result<std::optional<Started>> &found : each) {
    if (!found)
      return found.status();
    if (*found)
      all.push_back(std::move(**found));
  }
  if (!all.empty() && all[0].kind == StarterKind::variables) {
    all[0].reorders = !variables.text("TORCHELASTIC_RUN_ID").empty();
    all[0].address.clear(); // whoever sets these variables sets MASTER_ADDR, too
  }
  // An MPI places rank 0 on the first host of its Slurm job, where it may start no daemon.
  if (!all.empty() && all[0].kind == StarterKind::mpi && all[0].address.empty() &&
      !variables.text("SLURM_JOB_ID").empty()) {
    SYNCLINE_TRY_GET(host, firstHostOfSlurm(variables, /*ofStep=*/false));
    all[0].address = *host;
  }
  nameJobs(all, variables);
  if (!variables.status())
    return variables.status();
  return all;
}

std::vector<std::string> starterVariables() {
  std::vector<std::string> all{"PET_NPROC_PER_NODE", "SLURM_PROCID", "TORCHELASTIC_RUN_ID",
                               "TORCHELASTIC_USE_AGENT_STORE"};
  for (const Names &names : {byVariables, petNode, openMpi, pmi, pmix, kubernetes})
    for (const char *name : {names.rank, names.size, names.localRank, names.localSize})
      if (name)
        all.emplace_back(name);
  return all;
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

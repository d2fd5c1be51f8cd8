// Who a process is by each launcher's variables, which were read from the launchers.
#include "FindIdentity.h"

namespace syncline {
namespace {

using namespace launch;
using testing::expectUsage, testing::find, testing::Variables;

TEST(Starters, Torchrun) {
  Variables v{{"RANK", "3"},        {"WORLD_SIZE", "4"},      {"LOCAL_RANK", "1"},
              {"MASTER_ADDR", "h"}, {"MASTER_PORT", "29501"}, {"GLOO_SOCKET_IFNAME", "eth0"}};
  auto id = find(v);
  ASSERT_TRUE(id.isOk()) << id.status().message();
  EXPECT_FALSE(id->launchesLocally);
  EXPECT_EQ(id->rank, 3);
  EXPECT_EQ(id->localRank, 1);
  EXPECT_EQ(id->localSize, 1);
  EXPECT_EQ(id->masterAddress, "h");
  EXPECT_EQ(id->masterPort, 29501);
  EXPECT_EQ(id->interface, "eth0");
  v["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(find(v)->masterPort, 29502);
  v["LOCAL_WORLD_SIZE"] = "2";
  EXPECT_EQ(find(v)->localSize, 2);
}

TEST(Starters, OpenMpi) {
  Variables v{{"OMPI_COMM_WORLD_RANK", "2"},
              {"OMPI_COMM_WORLD_SIZE", "4"},
              {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
              {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  EXPECT_EQ(find(v)->rank, 2);
  EXPECT_EQ(find(v)->localSize, 4);
  EXPECT_EQ(find(v)->masterAddress, "127.0.0.1");
  v["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  expectUsage(find(v), "started by Open MPI without 'MASTER_ADDR': set it to the host of rank 0");
  v["MASTER_ADDR"] = "node1";
  EXPECT_EQ(find(v)->masterAddress, "node1");
}

TEST(Starters, Slurm) {
  Variables v{{"SLURM_PROCID", "1"},
              {"SLURM_NTASKS", "4"},
              {"SLURM_LOCALID", "0"},
              {"SLURM_NTASKS_PER_NODE", "2"},
              {"SLURM_STEP_NODELIST", "gpu[007-009],login"},
              {"SLURM_JOB_ID", "40005"}};
  auto id = find(v);
  ASSERT_TRUE(id.isOk()) << id.status().message();
  EXPECT_EQ(id->rank, 1);
  EXPECT_EQ(id->localSize, 2);
  EXPECT_EQ(id->masterAddress, "gpu007");
  EXPECT_EQ(id->masterPort, 20005);
  v["SLURM_STEP_NODELIST"] = "gpu[";
  expectUsage(find(v), "environment variable 'SLURM_STEP_NODELIST': no node list: 'gpu['");
}

// A step's own variables go before the job's.
TEST(Starters, SlurmStep) {
  const Variables v{{"SLURM_PROCID", "5"},        {"SLURM_STEP_NUM_TASKS", "8"},
                    {"SLURM_NTASKS", "64"},       {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"},
                    {"SLURM_LOCALID", "1"},       {"SLURM_STEP_NODELIST", "n[1-2]"},
                    {"SLURM_JOB_NUM_NODES", "4"}, {"SLURM_STEP_ID", "3"},
                    {"SLURM_JOB_ID", "7"}};
  const auto id = find(v, {}, {.ranks = 8});
  ASSERT_TRUE(id.isOk()) << id.status().message();
  EXPECT_EQ(id->rank, 5);
  EXPECT_EQ(id->localSize, 4);
  EXPECT_EQ(id->localRank, 1);
  EXPECT_EQ(id->job, "Slurm job 7.3");
}

// A batch script, which Slurm may count as a step, is no task: it starts local ranks; on the first
// of several hosts only when told to.
TEST(Starters, SlurmBatchScript) {
  Variables v{{"SLURM_PROCID", "0"},  {"SLURM_LOCALID", "0"},       {"SLURM_NTASKS", "1"},
              {"SLURM_JOB_ID", "12"}, {"SLURM_JOB_NUM_NODES", "1"}, {"SLURM_GTIDS", "0"}};
  const IdentityFlags four{.localRanks = 4};
  for (const char *step : {"", "4294967291", "4294967290"}) {
    v["SLURM_STEP_ID"] = step;
    EXPECT_TRUE(find(v, four)->launchesLocally) << step;
    EXPECT_TRUE(find(v)->launchesLocally) << step;
  }
  v["SLURM_JOB_NUM_NODES"] = "2";
  EXPECT_TRUE(find(v, four)->launchesLocally);
  expectUsage(find(v),
              "'SLURM_JOB_NUM_NODES=2', but no step of Slurm started this process: expected "
              "'srun' before the command, or '-n 4' for all ranks on this host");
}

// A process that a launcher started alone may start local ranks.
TEST(Starters, StartedAlone) {
  const IdentityFlags four{.localRanks = 4};
  const std::vector<Variables> launchers{{{"RANK", "0"}, {"WORLD_SIZE", "1"}},
                                         {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}},
                                         {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}};
  for (const Variables &v : launchers) {
    EXPECT_TRUE(find(v, four)->launchesLocally);
    EXPECT_FALSE(find(v).isOk());
    EXPECT_FALSE(find(v, {}, {.ranks = 1})->launchesLocally);
  }
}

// MPICH and Intel MPI.
TEST(Starters, Mpich) {
  Variables v{{"PMI_RANK", "3"},
              {"PMI_SIZE", "4"},
              {"MPI_LOCALRANKID", "3"},
              {"MPI_LOCALNRANKS", "4"},
              {"PMI_FD", "8"}};
  EXPECT_EQ(find(v)->rank, 3);
  EXPECT_EQ(find(v)->localRank, 3);
  EXPECT_EQ(find(v)->localSize, 4);
  EXPECT_EQ(find(v)->masterAddress, "127.0.0.1");
  EXPECT_EQ(find(v)->masterPort, 29500);
  EXPECT_EQ(find(v)->job, "");
  v["MPI_LOCALNRANKS"] = "2";
  v["MPI_LOCALRANKID"] = "1";
  expectUsage(find(v), "started by MPICH or Intel MPI without 'MASTER_ADDR': set it to the host of "
                       "rank 0");
  v["SLURM_JOB_ID"] = "9";
  v["SLURM_JOB_NODELIST"] = "c[3-4]";
  EXPECT_EQ(find(v)->masterAddress, "c3");
  EXPECT_EQ(find(v)->localRank, 1);
}

// Slurm by PMI, whose variables lack the host.
TEST(Starters, SlurmByPmi) {
  const Variables v{{"PMI_RANK", "3"},      {"PMI_SIZE", "4"},
                    {"PMI_JOBID", "3.0"},   {"SLURM_PROCID", "3"},
                    {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"},
                    {"SLURM_JOB_ID", "3"},  {"SLURM_STEP_NODELIST", "n[1-4]"},
                    {"SLURM_LOCALID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "1(x4)"}};
  EXPECT_EQ(find(v)->masterAddress, "n1");
  EXPECT_EQ(find(v)->masterPort, 20003);
  EXPECT_EQ(find(v)->job, "PMI job 3.0");
}

// PMIx and an indexed Job do not say how many ranks there are; the plan does.
TEST(Starters, SizeOfThePlan) {
  const RunShape any{.ranks = RunShape::anyRanks};
  for (const auto &[name, launcher] :
       {std::pair("PMIX_RANK", "PMIx"), std::pair("JOB_COMPLETION_INDEX", "Kubernetes")}) {
    Variables v{{name, "2"}};
    const std::string rank = "'" + std::string(name) + "=2' (" + launcher + ")";
    expectUsage(find(v), "started by " + std::string(launcher) +
                             " without 'MASTER_ADDR': set it to the host of rank 0");
    v["MASTER_ADDR"] = "job-0.service";
    EXPECT_EQ(find(v)->rank, 2);
    EXPECT_EQ(find(v)->size, 4);
    EXPECT_EQ(find(v, {}, {.ranks = 2, .servers = 1})->size, 3);
    EXPECT_EQ(find(v, {.localRanks = 4})->rank, 2);
    expectUsage(find(v, {.localRanks = 3}), "'-n 3' contradicts the plan, which says 4 ranks");
    expectUsage(find(v, {}, {.ranks = 2}), rank + " is none of the plan's 2 processes");
    expectUsage(find(v, {}, any), rank +
                                      " does not say how many ranks there are: expected '--rank' "
                                      "and '--ranks'");
  }
}

// Pods of an indexed Job may each train by themselves, with a plan for one or with local ranks.
TEST(Starters, KubernetesSweep) {
  const Variables v{{"JOB_COMPLETION_INDEX", "3"}};
  EXPECT_EQ(find(v, {}, {.ranks = 1})->rank, 0);
  EXPECT_TRUE(find(v, {.localRanks = 4})->launchesLocally);
}

// A node for torchrun is a rank where it has one process; otherwise torchrun is missed.
TEST(Starters, NodeOfTorchrun) {
  Variables v{{"PET_NNODES", "4"},          {"PET_NODE_RANK", "2"},
              {"PET_NPROC_PER_NODE", "1"},  {"PET_MASTER_ADDR", "job-0"},
              {"PET_MASTER_PORT", "29400"}, {"JOB_COMPLETION_INDEX", "2"}};
  EXPECT_EQ(find(v)->rank, 2);
  EXPECT_EQ(find(v)->masterAddress, "job-0");
  EXPECT_EQ(find(v)->masterPort, 29400);
  const auto needsTorchrun = [](const std::string &variable) {
    return "environment variable '" + variable +
           "' is for torchrun, which did not start this process: expected 'torchrun --no-python -- "
           "syncline ..', which starts the ranks of a node";
  };
  v["PET_NPROC_PER_NODE"] = "2";
  expectUsage(find(v), needsTorchrun("PET_NPROC_PER_NODE=2"));
  v["RANK"] = "2"; // as an operator sets it for the node
  v["WORLD_SIZE"] = "8";
  expectUsage(find(v), needsTorchrun("PET_NPROC_PER_NODE=2"));
  v["RANK"] = "1"; // of torchrun's, on the second node
  v["WORLD_SIZE"] = "4";
  v["LOCAL_RANK"] = "1";
  v["LOCAL_WORLD_SIZE"] = "2";
  v["TORCHELASTIC_RUN_ID"] = "none";
  v["MASTER_ADDR"] = "job-0";
  EXPECT_EQ(find(v)->rank, 1);
  expectUsage(find({{"PET_NNODES", "1:4"}}), needsTorchrun("PET_NNODES=1:4"));
  EXPECT_TRUE(find({{"PET_NNODES", "1"}, {"PET_NPROC_PER_NODE", "auto"}})->launchesLocally);
}

// A launcher's processes may start another's; the innermost one counts.
TEST(Starters, NestedLaunchers) {
  const Variables srun{{"SLURM_PROCID", "1"},         {"SLURM_STEP_NUM_TASKS", "2"},
                       {"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_STEP_ID", "0"},
                       {"SLURM_JOB_ID", "8"},         {"SLURM_JOB_NODELIST", "a,b,c"},
                       {"SLURM_STEP_NODELIST", "b,c"}};
  const auto inside = [](Variables outer, const Variables &inner) {
    outer.insert(inner.begin(), inner.end());
    return find(outer);
  };
  const Variables torchrun{{"RANK", "1"},
                           {"WORLD_SIZE", "4"},
                           {"LOCAL_RANK", "1"},
                           {"LOCAL_WORLD_SIZE", "2"},
                           {"TORCHELASTIC_RUN_ID", "none"},
                           {"MASTER_ADDR", "a"}};
  const Variables openMpi{{"OMPI_COMM_WORLD_RANK", "3"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"PMIX_RANK", "3"},
                          {"PMIX_NAMESPACE", "77"}};
  EXPECT_EQ(inside(srun, torchrun)->rank, 1);
  EXPECT_EQ(inside(srun, torchrun)->job, "Slurm job 8");
  EXPECT_EQ(inside(srun, openMpi)->rank, 3); // daemons on all hosts but the first
  EXPECT_EQ(inside(srun, openMpi)->masterAddress, "a");
  EXPECT_EQ(inside(srun, openMpi)->job, "PMIx job 77");
  EXPECT_EQ(inside({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, torchrun)->rank, 1);
  EXPECT_EQ(inside({{"JOB_COMPLETION_INDEX", "1"}}, torchrun)->rank, 1);
}

// Launchers that cannot have started each other are named.
TEST(Starters, LaunchersThatContradict) {
  const Variables openMpi{{"OMPI_COMM_WORLD_RANK", "0"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  const std::string mpi = "'OMPI_COMM_WORLD_RANK=0' of 'OMPI_COMM_WORLD_SIZE=4' (Open MPI)";
  const auto contradicts = [](const std::string &one, const std::string &other) {
    return one + " contradicts " + other +
           ": unset the variables of the launcher that did not start this process, or give "
           "'--rank' and '--ranks'";
  };
  Variables v = openMpi;
  v.insert({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}});
  expectUsage(find(v), contradicts("'RANK=1' of 'WORLD_SIZE=2' (torchrun)", mpi));
  v["WORLD_SIZE"] = "4";
  expectUsage(find(v), contradicts("'RANK=1' of 'WORLD_SIZE=4' (torchrun)", mpi));
  v["RANK"] = "0";
  EXPECT_EQ(find(v)->rank, 0);
  EXPECT_EQ(find(v)->localSize, 4); // Open MPI's
  v["PMIX_RANK"] = "2";
  expectUsage(find(v),
              contradicts("'RANK=0' of 'WORLD_SIZE=4' (torchrun)", "'PMIX_RANK=2' (PMIx)"));
  v.erase("PMIX_RANK");
  v.insert({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  expectUsage(find(v), contradicts("'RANK=0' of 'WORLD_SIZE=4' (torchrun)",
                                   "'PMI_RANK=0' of 'PMI_SIZE=2' (MPICH or Intel MPI)"));
  v = openMpi;
  v.insert({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_NUM_NODES", "1"}});
  expectUsage(find(v), contradicts(mpi, "'SLURM_PROCID=1' of 'SLURM_STEP_NUM_TASKS=4' (Slurm)"));
  v = {{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "h"}, {"JOB_COMPLETION_INDEX", "1"}};
  expectUsage(find(v), contradicts("'RANK=0' of 'WORLD_SIZE=4' (torchrun)",
                                   "'JOB_COMPLETION_INDEX=1' (Kubernetes)"));
  EXPECT_EQ(find(v, {.rank = 2, .ranks = 4})->rank, 2);
}

// A job's name is the user's, else the launcher's; ranks that are typed have the user's only.
TEST(Starters, Job) {
  Variables v{{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "h"}};
  EXPECT_EQ(find(v)->job, "");
  v["TORCHELASTIC_RUN_ID"] = "none";
  EXPECT_EQ(find(v)->job, "");
  v["TORCHELASTIC_RUN_ID"] = "night";
  EXPECT_EQ(find(v)->job, "torchrun's run night");
  EXPECT_EQ(find(v, {.rank = 0, .ranks = 4})->job, "");
  v["SYNCLINE_JOB"] = "mine";
  EXPECT_EQ(find(v)->job, "mine");
  EXPECT_EQ(find(v, {.rank = 0, .ranks = 4})->job, "mine");
  v["SYNCLINE_JOB"] = std::string(201, 'x');
  expectUsage(find(v), "the name of the job is longer than 200 bytes: '" + std::string(40, 'x') +
                           "..'; 'SYNCLINE_JOB' sets another");
}

// A shell inside an allocation is no task.
TEST(Starters, SlurmShell) { EXPECT_TRUE(find({{"SLURM_NTASKS", "8"}})->launchesLocally); }

TEST(Starters, SlurmHosts) {
  EXPECT_EQ(firstSlurmHost("login"), "login");
  EXPECT_EQ(firstSlurmHost("a,b"), "a");
  EXPECT_EQ(firstSlurmHost("gpu[003-007,9],login"), "gpu003");
  EXPECT_EQ(firstSlurmHost("n[12]"), "n12");
  EXPECT_EQ(firstSlurmHost("r[1-2]n[01-04]-ib,x"), "r1n01-ib");
  EXPECT_EQ(firstSlurmHost("x[]"), "");
  EXPECT_EQ(firstSlurmHost("x[1"), "");
}

} // namespace
} // namespace syncline

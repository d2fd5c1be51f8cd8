// Starts GoogleTest programs: in surroundings of their own, and with each test's processor time in
// the results.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

/// Processor seconds of this process and of the children it has waited for.
double processorSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval &time : {used.ru_utime, used.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

/// Adds the property "cpu", in seconds, to each test of GoogleTest's XML.
class ProcessorTimes : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo &) override { began = processorSeconds(); }
  void OnTestEnd(const testing::TestInfo &) override {
    testing::Test::RecordProperty("cpu", std::to_string(processorSeconds() - began));
  }
  double began = 0;
};

/// What launchers tell their ranks: around a test run it is meant for somebody else.
constexpr std::string_view launchers[] = {"OMPI_",
                                          "PMI",
                                          "MPI",
                                          "SLURM_",
                                          "TORCHELASTIC_",
                                          "PET_",
                                          "JOB_COMPLETION_INDEX",
                                          "RANK=",
                                          "WORLD_SIZE=",
                                          "LOCAL_RANK=",
                                          "LOCAL_WORLD_SIZE=",
                                          "GROUP_RANK=",
                                          "MASTER_ADDR=",
                                          "MASTER_PORT=",
                                          "HYDRA_",
                                          "I_MPI_"};

/// Takes away what a shell, a launcher or a user has set around the run: a script's background
/// processes ignore SIGINT, and so would the programs that tests start and interrupt.
void settle() {
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE})
    std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  umask(022);
  // A closed standard stream's number would become some file's of the test.
  int stream = open("/dev/null", O_RDWR);
  while (stream >= 0 && stream <= STDERR_FILENO)
    stream = open("/dev/null", O_RDWR);
  close(stream);
  std::vector<std::string> names;
  for (char **entry = environ; *entry; ++entry)
    for (const std::string_view prefix : launchers)
      if (std::string_view(*entry).substr(0, prefix.size()) == prefix)
        names.emplace_back(*entry, std::string_view(*entry).find('='));
  for (const std::string &name : names)
    unsetenv(name.c_str());
}

} // namespace

int main(int argc, char **argv) {
  settle();
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new ProcessorTimes);
  return RUN_ALL_TESTS();
}

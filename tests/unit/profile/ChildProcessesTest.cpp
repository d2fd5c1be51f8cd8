// Programs that a command starts, and what ends them.
#include "frontend/profile/ChildProcesses.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace syncline::profile {
namespace {

using namespace std::chrono_literals;

/// Takes the SIGINT that is delivered again when everything is removed.
class ChildProcessesTest : public testing::Test {
protected:
  void SetUp() override {
    before = std::signal(SIGINT, [](int) {});
  }
  void TearDown() override { std::signal(SIGINT, before); }

private:
  void (*before)(int) = nullptr;
};

/// Whether the process is there and has not ended by itself or by a signal.
bool isRunning(int pid) {
  siginfo_t found{};
  return waitid(P_PID, static_cast<id_t>(pid), &found, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         found.si_pid == 0;
}

// A signal is noticed though the child does not end by it.
TEST_F(ChildProcessesTest, WaitingForOutputEndsBySignals) {
  ChildProcesses children;
  ASSERT_TRUE(children.create().isOk());
  auto child =
      children.start({"/bin/sh", "-c", "trap '' TERM INT HUP; exec sleep 1000 > /dev/null"});
  ASSERT_TRUE(child.isOk());
  std::thread signals([] {
    std::this_thread::sleep_for(200ms); // mostly while the output is waited for
    kill(getpid(), SIGINT);
  });
  EXPECT_EQ(children.waitForOutput(*child).message(), "interrupted");
  EXPECT_TRUE(isRunning(child->process.id()));
  signals.join();
}

// Whenever a signal comes, before a child is its program or later, the child ends by it.
TEST_F(ChildProcessesTest, ChildrenThatAreStartingEndBySignals) {
  for (int pause = 0; pause < 40; ++pause) {
    ChildProcesses children;
    ASSERT_TRUE(children.create().isOk());
    std::thread signals([pause] {
      std::this_thread::sleep_for(pause * 50us);
      kill(getpid(), SIGINT);
    });
    auto child = children.start({"/bin/sleep", "1000"}); // by itself, long after the test
    signals.join();
    if (!child) // the signal was there first
      continue;
    EXPECT_EQ(children.wait(*child).message(), "interrupted") << pause;
  }
}

} // namespace
} // namespace syncline::profile

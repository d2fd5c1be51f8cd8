// Programs that a command starts, and what ends them.
#include "frontend/profile/ChildProcesses.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <functional>
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

double secondsOf(const std::function<void()> &work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A signal is noticed though the child does not end by it.
TEST_F(ChildProcessesTest, WaitingForOutputEndsBySignals) {
  const double seconds = secondsOf([] {
    ChildProcesses children;
    ASSERT_TRUE(children.create().isOk());
    auto child = children.start({"/bin/sh", "-c", "trap '' TERM; sleep 20 > /dev/null"});
    ASSERT_TRUE(child.isOk());
    std::thread signals([] {
      std::this_thread::sleep_for(200ms);
      kill(getpid(), SIGINT);
    });
    EXPECT_EQ(children.waitForOutput(*child).message(), "interrupted");
    signals.join();
  });
  EXPECT_LT(seconds, 10);
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
    auto child = children.start({"/bin/sleep", "20"});
    signals.join();
    if (!child) // the signal was there first
      continue;
    const double seconds =
        secondsOf([&] { EXPECT_EQ(children.wait(*child).message(), "interrupted"); });
    ASSERT_LT(seconds, 10) << pause;
  }
}

} // namespace
} // namespace syncline::profile

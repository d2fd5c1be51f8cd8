// Programs and computations in child processes.
#include "syncline/ChildProcess.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>
#include <unistd.h>

namespace syncline {
namespace {

// An answer longer than a pipe's buffer comes whole, and from another process.
TEST(ChildAnswer, Answers) {
  const std::string long_(1 << 20, 'x');
  Result<ChildAnswer> answer = answerOfChild([&] { return std::to_string(getpid()) + long_; });
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->end.signal, 0);
  EXPECT_EQ(answer->text.size(), long_.size() + answer->text.find('x'));
  EXPECT_NE(answer->text.substr(0, answer->text.find('x')), std::to_string(getpid()));
}

// What crashes, throws or takes too long says so by its signal, and returns to no caller.
TEST(ChildAnswer, NamesTheSignal) {
  const auto signalOf = [](const std::function<std::string()> &work, unsigned seconds = 0) {
    Result<ChildAnswer> answer = answerOfChild(work, seconds);
    return answer ? answer->end.signal : -1;
  };
  EXPECT_EQ(signalOf([]() -> std::string { std::raise(SIGSEGV), std::abort(); }), SIGSEGV);
  EXPECT_EQ(signalOf([]() -> std::string { throw std::runtime_error("wrong"); }), SIGABRT);
  EXPECT_EQ(signalOf([]() -> std::string { pause(), std::abort(); }, 1), SIGALRM);
}

ChildProgram shell(const std::string &script, bool hasGuard = false) {
  ChildProgram program{.path = "/bin/sh", .arguments = {"sh", "-c", script}};
  program.hasGuard = hasGuard;
  return program;
}

std::string endOf(const ChildProgram &program) {
  Result<ChildProcess> child = ChildProcess::start(program);
  return child ? child->wait().text() : child.status().message();
}

std::string endOf(const std::string &script, bool hasGuard = false) {
  return endOf(shell(script, hasGuard));
}

/// Restores what a signal does.
class Handler {
public:
  Handler(int signal, void (*handler)(int))
      : signal(signal), before(std::signal(signal, handler)) {}
  Handler(const Handler &) = delete;
  ~Handler() { std::signal(signal, before); }

private:
  const int signal;
  void (*const before)(int);
};

// A guard ends as its program does. Where this process ignores SIGCHLD, the end is known, too.
TEST(ChildProcess, SaysHowItEnds) {
  const Handler ignored(SIGCHLD, SIG_IGN);
  EXPECT_EQ(endOf("exit 0"), "ended with exit code 0");
  for (const bool hasGuard : {false, true}) {
    std::signal(SIGCHLD, SIG_IGN);
    EXPECT_EQ(endOf("exit 7", hasGuard), "ended with exit code 7");
    EXPECT_EQ(endOf("kill -SEGV $$", hasGuard), "was killed by signal 11 (Segmentation fault)");
  }
  std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(answerOfChild([]() -> std::string { std::raise(SIGSEGV), std::abort(); })->end.signal,
            SIGSEGV);
}

// The reason comes at once, not as an exit code that the program could have, too.
TEST(ChildProcess, SaysWhyItDoesNotStart) {
  for (const bool hasGuard : {false, true}) {
    ChildProgram absent = shell("", hasGuard), noFile = absent, noProgram = absent;
    absent.path = "/nowhere/sh";
    noFile.output = "/nowhere/log";
    noProgram.path = "/";
    EXPECT_EQ(endOf(absent), "No such file or directory");
    EXPECT_EQ(endOf(noFile), "No such file or directory");
    EXPECT_EQ(endOf(noProgram), "Permission denied");
  }
}

TEST(ChildProcess, HasItsFilesAndVariables) {
  const std::string log = ::testing::TempDir() + "/child-process-log";
  std::ofstream(log) << "before\n";
  setenv("SYNCLINE_TEST_GONE", "1", 1);
  ChildProgram program =
      shell("cat; echo $SYNCLINE_TEST_NEW${SYNCLINE_TEST_GONE-gone}; echo e >&2");
  program.variables = {{"SYNCLINE_TEST_NEW", "new "}, {"SYNCLINE_TEST_GONE", {}}};
  program.input = "/dev/null";
  program.output = program.errors = log;
  EXPECT_EQ(endOf(program), "ended with exit code 0");
  unsetenv("SYNCLINE_TEST_GONE");
  std::ifstream file(log);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "before\nnew gone\ne\n");
  std::filesystem::remove(log);
}

// A signal that this process handles ends the child; one that it ignores does not.
TEST(ChildProcess, HasNoHandlers) {
  const Handler handled(SIGTERM, [](int) {}), ignored(SIGHUP, SIG_IGN);
  EXPECT_EQ(endOf("kill -TERM $$"), "was killed by signal 15 (Terminated)");
  EXPECT_EQ(endOf("kill -HUP $$; exit 5"), "ended with exit code 5");
}

/// Reads from a pipe to its end, which comes when all processes that can write have ended.
bool endsAll(int pipe) {
  char byte = 0;
  ssize_t size = 0;
  while ((size = read(pipe, &byte, 1)) > 0)
    ;
  return size == 0;
}

class StartedByAnother : public ::testing::TestWithParam<bool> {
protected:
  void SetUp() override { ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0); }
  void TearDown() override {
    close(ends[0]);
    EXPECT_LT(fcntl(ends[1], F_GETFD), 0);
  }

  /// Starts a program that writes into the pipe, waits until it and what it starts run, and calls
  /// `next`, in this process or a child of it.
  bool start(const std::function<void(ChildProcess &)> &next) {
    ChildProgram program = shell(
        GetParam() ? "sleep 100000 & printf x; wait" : "printf x; exec sleep 100000", GetParam());
    program.output = "/proc/self/fd/" + std::to_string(ends[1]);
    Result<ChildProcess> child = ChildProcess::start(program);
    char byte = 0;
    if (!child || read(ends[0], &byte, 1) != 1)
      return false;
    next(*child);
    return true;
  }

  int ends[2];
};
INSTANTIATE_TEST_SUITE_P(Guard, StartedByAnother, ::testing::Bool());

// With a guard, what the program has started ends as well.
TEST_P(StartedByAnother, EndsWithItsParent) {
  const auto dies = [&] {
    start([](ChildProcess &) { raise(SIGKILL); });
    return std::string();
  };
  EXPECT_EQ(answerOfChild(dies)->end.signal, SIGKILL);
  close(ends[1]);
  EXPECT_TRUE(endsAll(ends[0]));
}

TEST_P(StartedByAnother, EndsWithItsOwner) {
  EXPECT_TRUE(start([](ChildProcess &child) {
    EXPECT_FALSE(child.waitFor(std::chrono::milliseconds(1)));
    EXPECT_EQ(kill(child.id(), 0), 0);
  }));
  close(ends[1]);
  EXPECT_TRUE(endsAll(ends[0]));
}

TEST_P(StartedByAnother, EndsBySignal) {
  EXPECT_TRUE(start([](ChildProcess &child) {
    child.send(SIGKILL);
    EXPECT_EQ(child.wait().signal, SIGKILL);
    EXPECT_EQ(child.waitFor(std::chrono::milliseconds(0))->signal, SIGKILL);
  }));
  close(ends[1]);
  EXPECT_TRUE(endsAll(ends[0]));
}

} // namespace
} // namespace syncline

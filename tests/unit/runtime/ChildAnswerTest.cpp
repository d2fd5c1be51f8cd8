// Computations in a child process.
#include "syncline/ChildAnswer.h"

#include <csignal>
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
  EXPECT_EQ(answer->signal, 0);
  EXPECT_EQ(answer->text.size(), long_.size() + answer->text.find('x'));
  EXPECT_NE(answer->text.substr(0, answer->text.find('x')), std::to_string(getpid()));
}

// What crashes, throws or takes too long says so by its signal, and returns to no caller.
TEST(ChildAnswer, NamesTheSignal) {
  const auto signalOf = [](const std::function<std::string()> &work, unsigned seconds = 0) {
    Result<ChildAnswer> answer = answerOfChild(work, seconds);
    return answer ? answer->signal : -1;
  };
  EXPECT_EQ(signalOf([]() -> std::string { std::raise(SIGSEGV), std::abort(); }), SIGSEGV);
  EXPECT_EQ(signalOf([]() -> std::string { throw std::runtime_error("wrong"); }), SIGABRT);
  EXPECT_EQ(signalOf([]() -> std::string { pause(), std::abort(); }, 1), SIGALRM);
}

} // namespace
} // namespace syncline

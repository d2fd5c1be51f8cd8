// Loops stay small, and forming them takes time in proportion to the step, whatever its shape.
#include "passes/fuse/PointwiseGroups.h"
#include "tests/unit/cost/Parsed.h"

#include <gtest/gtest.h>

#include <memory>

namespace syncline::fuse {
namespace {

/// The result of operation i - 1; the input for the first.
std::string before(int i) { return i == 0 ? "%x" : "%v" + std::to_string(i - 1); }

/// What one operation more adds to a step.
using Line = std::string (*)(int);

/// Each reads the one before.
std::string chain(int i) {
  return "%v" + std::to_string(i) + " = nn.unary relu " + before(i) + " : tensor<4x8xf32>\n";
}

/// Each reads the one before and one tensor that all read.
std::string chainBesideOneTensor(int i) {
  return "%v" + std::to_string(i) + " = nn.binary add " + before(i) +
         ", %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>\n";
}

/// All read one tensor.
std::string fan(int i) {
  return "%v" + std::to_string(i) + " = nn.unary relu %x : tensor<4x8xf32>\n";
}

/// All read one elementwise result, and none is next to another: a product stands in between.
std::string fanOfResult(int i) {
  const std::string n = std::to_string(i);
  if (i == 0)
    return "%v0 = nn.unary relu %x : tensor<4x8xf32>\n";
  return "%m" + n + " = nn.matmul %v0, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> " +
         "tensor<4x8xf32>\n%v" + n + " = nn.binary add %m" + n +
         ", %v0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>\n";
}

/// Each reads the last two.
std::string ladder(int i) {
  return "%v" + std::to_string(i) + " = nn.binary add " + before(i) + ", " +
         before(i == 0 ? 0 : i - 1) + " : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>\n";
}

struct Grouped {
  std::unique_ptr<Parsed> parsed; ///< owns the groups' operations
  std::vector<PointwiseGroup> groups;
  std::size_t attempts = 0;
};

Grouped group(Line line, int operations) {
  std::string text = "nn.step @s batch 4 {\n%x = nn.input \"x\" : tensor<4x8xf32>\n"
                     "%p = nn.input \"p\" : tensor<4x8xf32>\n"
                     "%w = nn.input \"w\" : tensor<8x8xf32>\n";
  for (int i = 0; i < operations; ++i)
    text += line(i);
  Grouped result;
  result.parsed = std::make_unique<Parsed>(text + "}");
  EXPECT_TRUE(result.parsed->module) << result.parsed->error;
  if (result.parsed->module)
    result.groups = groupPointwise(result.parsed->step(), &result.attempts);
  return result;
}

std::size_t membersOf(const std::vector<PointwiseGroup> &groups) {
  std::size_t members = 0;
  for (const PointwiseGroup &group : groups)
    members += group.members.size();
  return members;
}

class PointwiseGroups : public testing::TestWithParam<std::pair<const char *, Line>> {};

} // namespace

// No loop has more operations or inputs than the bounds say, and none is lost.
TEST_P(PointwiseGroups, AreBounded) {
  const Grouped grouped = group(GetParam().second, 300);
  EXPECT_EQ(membersOf(grouped.groups), 300u);
  for (const PointwiseGroup &group : grouped.groups) {
    EXPECT_LE(group.members.size(), maxMembers);
    EXPECT_LE(group.inputs().size(), maxInputs);
  }
}

// Twice the operations are tried with at most twice as many others.
TEST_P(PointwiseGroups, AreFoundInProportionToTheStep) {
  const std::size_t some = group(GetParam().second, 400).attempts,
                    more = group(GetParam().second, 800).attempts;
  EXPECT_GT(some, 0u);
  EXPECT_LE(more, 2 * some + maxReaders * maxReaders);
}

INSTANTIATE_TEST_SUITE_P(Shapes, PointwiseGroups,
                         testing::Values(std::pair("chain", &chain),
                                         std::pair("chainBesideOneTensor", &chainBesideOneTensor),
                                         std::pair("fan", &fan),
                                         std::pair("fanOfResult", &fanOfResult),
                                         std::pair("ladder", &ladder)),
                         [](const auto &shape) { return std::string(shape.param.first); });

// A chain is cut where a loop is full and nowhere else.
TEST(PointwiseGroupsOfAChain, AreFull) {
  const Grouped grouped = group(&chain, static_cast<int>(3 * maxMembers + 1));
  ASSERT_EQ(grouped.groups.size(), 4u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(grouped.groups[i].members.size(), maxMembers);
  EXPECT_EQ(grouped.groups[3].members.size(), 1u);
}

} // namespace syncline::fuse

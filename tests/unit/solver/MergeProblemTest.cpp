// Validation of problems, and the replay's clock on a case computed by hand.
#include "passes/solver/MergeProblem.h"
#include "passes/solver/Replay.h"

#include <gtest/gtest.h>

#include <cmath>

namespace syncline::solver {
namespace {

std::vector<SchemeOption> affine(double latency, double slope) {
  return {{Scheme::ring, std::make_shared<AffineCost>(latency, slope)}};
}

TEST(MergeProblem, NamesTheLayerThatIsWrong) {
  auto message = [](std::vector<Layer> layers) {
    Status status = validate({std::move(layers), affine(1, 1)});
    return status.isOk() ? std::string("ok") : status.message();
  };
  EXPECT_EQ(message({}), "ok");
  EXPECT_EQ(message({{0, 0.0}, {5, 0.0}}), "ok");
  EXPECT_EQ(message({{1, 0.0}, {-1, 1.0}}),
            "layer 2 in backward order: expected bytes >= 0, got -1");
  EXPECT_EQ(message({{1, 2.0}, {1, 1.0}}),
            "layer 2 in backward order: expected a ready time >= 2.000000, got 1.000000");
  EXPECT_EQ(message({{1, std::nan("")}}),
            "layer 1 in backward order: expected a finite ready time >= 0, got nan");
  EXPECT_EQ(message({{std::int64_t{1} << 52, 0.0}, {std::int64_t{1} << 52, 0.0}}),
            "layer 2 in backward order: expected less than 2^53 bytes in all");
}

TEST(MergeProblem, NeedsASchemeWithACost) {
  EXPECT_EQ(validate({}).message(), "merge problem: expected at least one scheme, got none");
  EXPECT_EQ(validate({{}, {{Scheme::tree, nullptr}}}).message(),
            "merge problem: scheme 'tree' has no cost");
}

/// Messages wait for their last member and for the channel, whichever is later.
TEST(Replay, TimesMessagesByHand) {
  MergeProblem problem{{{10, 1.0}, {20, 2.0}, {30, 2.5}, {40, 50.0}}, affine(1, 0.5)};
  std::vector<std::size_t> ends{2, 3, 4};
  Solution solution = replay(problem, ends);
  ASSERT_EQ(solution.groups.size(), 3u);
  EXPECT_EQ(solution.groups[0].bytes, 30);
  EXPECT_EQ(solution.groups[0].start, 2);
  EXPECT_EQ(solution.groups[0].end, 18);
  EXPECT_EQ(solution.groups[1].ready, 2.5);
  EXPECT_EQ(solution.groups[1].start, 18);
  EXPECT_EQ(solution.groups[1].end, 34);
  EXPECT_EQ(solution.groups[2].start, 50);
  EXPECT_EQ(solution.finish, 71);
  EXPECT_EQ(groupEnds(solution), ends);
}

} // namespace
} // namespace syncline::solver

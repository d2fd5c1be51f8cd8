// Validation of joint problems: every way to be wrong, and how it is said.
#include "passes/problem/Problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace syncline::solver {
namespace {

JointProblem good() {
  JointProblem problem;
  Lane lane{{{Scheme::ring, std::make_shared<AffineCost>(1, 1), 4}}, unlimited, unlimited};
  problem.lanes = {lane, lane};
  problem.lanes[1].options[0].scheme = Scheme::parameterServer;
  problem.layers = {{10, 0.0, 3, {{Scheme::factors, 1, 1, 1}}, {}}, {20, 1.0, 3, {}, 0}};
  problem.computeFree = 1;
  return problem;
}

void expectInvalid(const std::function<void(JointProblem &)> &spoil, const std::string &message) {
  JointProblem problem = good();
  spoil(problem);
  Status status = validate(problem);
  ASSERT_FALSE(status.isOk()) << "accepted: " << message;
  EXPECT_EQ(status.kind(), ErrorKind::badInput);
  EXPECT_EQ(status.message(), message);
}

TEST(ValidateJoint, AcceptsAGoodProblem) {
  EXPECT_TRUE(validate(good()).isOk());
  JointProblem empty = good();
  empty.layers.clear();
  EXPECT_TRUE(validate(empty).isOk());
}

TEST(ValidateJoint, ChecksLanes) {
  expectInvalid([](JointProblem &p) { p.lanes.clear(); },
                "joint problem: expected 1 to 3 lanes, got 0");
  expectInvalid([](JointProblem &p) { p.lanes[0].options.clear(); },
                "joint problem: expected 1 to 254 schemes in a lane, got 0");
  expectInvalid([](JointProblem &p) { p.lanes[0].options[0].cost.reset(); },
                "joint problem: scheme 'ring' has no cost");
  expectInvalid([](JointProblem &p) { p.lanes[0].capacity = p.lanes[1].capacity = 100; },
                "joint problem: expected one lane with a capacity, got 2");
  expectInvalid([](JointProblem &p) { p.lanes[0].largestMessage = -1; },
                "joint problem: expected limits >= 0");
}

TEST(ValidateJoint, ChecksLayers) {
  expectInvalid([](JointProblem &p) { p.layers[1].bytes = -1; },
                "layer 2 in backward order: expected bytes >= 0, got -1");
  expectInvalid([](JointProblem &p) { p.layers[1].bytes = std::int64_t{1} << 53; },
                "layer 2 in backward order: expected less than 2^53 bytes in all");
  expectInvalid(
      [](JointProblem &p) { p.layers[0].ready = 2; },
      "layer 2 in backward order: expected a finite ready time >= 2.000000, got 1.000000");
  expectInvalid([](JointProblem &p) { p.layers[0].ready = NAN; },
                "layer 1 in backward order: expected a finite ready time >= 0.000000, got nan");
  expectInvalid(
      [](JointProblem &p) { p.layers[0].bytes = p.layers[1].bytes = std::int64_t{1} << 52; },
      "layer 2 in backward order: expected less than 2^53 bytes in all");
  expectInvalid([](JointProblem &p) { p.computeFree = 0.5; },
                "joint problem: expected the backward pass to end at 1.000000 s or later, got "
                "0.500000 s");
  expectInvalid([](JointProblem &p) { p.layers[0].lanes = 4; },
                "layer 1 in backward order: expected lanes below 2");
  expectInvalid([](JointProblem &p) { p.layers[0].solos[0].rebuild = NAN; },
                "layer 1 in backward order: expected finite times >= 0 for 'factors'");
}

TEST(ValidateJoint, ChecksCarriers) {
  for (std::size_t carrier : {std::size_t{1}, std::size_t{2}})
    expectInvalid([&](JointProblem &p) { p.layers[1].carrier = carrier; },
                  "layer 2 in backward order: expected its carrier to be another layer that can "
                  "travel alone");
  expectInvalid([](JointProblem &p) { p.layers[0].solos.clear(); },
                "layer 2 in backward order: expected its carrier to be another layer that can "
                "travel alone");
}

TEST(ValidateJoint, WantsAWayForEveryLayer) {
  expectInvalid([](JointProblem &p) { p.layers[1].lanes = 0; },
                "layer 2 in backward order: no scheme can carry its 20 B");
  expectInvalid([](JointProblem &p) { p.lanes[0].largestMessage = p.lanes[1].largestMessage = 15; },
                "layer 2 in backward order: no scheme can carry its 20 B");
  expectInvalid(
      [](JointProblem &p) {
        p.layers[1].lanes = 2;
        p.lanes[1].capacity = 15;
      },
      "joint problem: expected at most 15 B of gradients that only 'parameter-server' can carry, "
      "got 20 B");
}

// A rider needs no lane where its carrier cannot but travel alone.
TEST(ValidateJoint, LetsARiderHaveNoLane) {
  JointProblem problem = good();
  problem.layers[1].lanes = 0;
  EXPECT_FALSE(validate(problem).isOk());
  problem.layers[0].lanes = 0;
  EXPECT_TRUE(validate(problem).isOk()) << validate(problem).message();
}

TEST(PairBits, AreReusedOncePairsAreDecided) {
  JointProblem problem = good();
  for (std::size_t block = 1; block < 100; ++block) {
    problem.layers.push_back(problem.layers[0]);
    problem.layers.push_back(problem.layers[1]);
    problem.layers.back().carrier = 2 * block;
  }
  PairBits bits(problem);
  EXPECT_EQ(bits.most, 1u);
  EXPECT_TRUE(bits.ofLayer[0][0].opens);
  EXPECT_TRUE(bits.ofLayer[0][0].carries);
  EXPECT_FALSE(bits.ofLayer[1][0].opens);
  EXPECT_EQ(bits.ofLayer[0][0].bit, bits.ofLayer[1][0].bit);
}

} // namespace
} // namespace syncline::solver

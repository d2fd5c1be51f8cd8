// The joint judge: every numbered reason to reject, on a good plan and a good certificate spoilt in
// one place.
#include "passes/proof/SolutionChecker.h"

#include "passes/solver/PlanSteps.h"
#include "passes/solver/Replay.h"
#include "passes/solver/Solver.h"
#include "passes/solver/StateBound.h"
#include "tests/unit/solver/RandomProblem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace syncline::proof {

using namespace problem;
using namespace solver;
namespace {

using Kind = RejectionKind;

/// Layer 2 may go by factors, and layer 3 may be its piggyback. The second of two merge classes
/// holds 60 bytes.
Problem problem() {
  Problem p;
  p.mergeClasses = {{.options = {{.scheme = Scheme::ring,
                                  .cost = std::make_shared<AffineCost>(1, 0.1),
                                  .traffic = 4}},
                     .largestMessage = 50},
                    {.options = {{.scheme = Scheme::parameterServer,
                                  .cost = std::make_shared<AffineCost>(2, 0.1),
                                  .traffic = 4}},
                     .capacity = 60}};
  p.layers = {{.bytes = 10, .ready = 1.0, .mergeClasses = 3, .factorOptions = {}, .carrier = {}},
              {.bytes = 40,
               .ready = 2.0,
               .mergeClasses = 3,
               .factorOptions = {{.seconds = 2, .reconstruct = 3, .traffic = 5}},
               .carrier = {}},
              {.bytes = 1, .ready = 2.0, .mergeClasses = 3, .factorOptions = {}, .carrier = 1},
              {.bytes = 20, .ready = 4.0, .mergeClasses = 1, .factorOptions = {}, .carrier = {}}};
  p.computeFree = 4;
  return p;
}

/// Factors for layer 2, layer 3 rides, layers 1 and 4 share a ring bucket.
Solution goodPlan() {
  const Choice choices[] = {{Choice::Kind::join, 0},
                            {Choice::Kind::factors, 0},
                            {Choice::Kind::piggyback, 0},
                            {Choice::Kind::bucket, 0}};
  return replay(problem(), choices);
}

/// Layers 1 and 2 in the first merge class, 3 and 4 in a second bucket of it.
Solution bucketPlan() {
  const Choice choices[] = {{Choice::Kind::join, 0},
                            {Choice::Kind::bucket, 0},
                            {Choice::Kind::join, 0},
                            {Choice::Kind::bucket, 0}};
  return replay(problem(), choices);
}

void expectRejected(Solution plan, Kind kind, const std::function<void(Solution &)> &spoil,
                    const std::string &message) {
  spoil(plan);
  auto rejection = checkSolution(problem(), plan);
  ASSERT_TRUE(rejection) << "accepted: " << message;
  EXPECT_EQ(rejection->kind, kind) << rejection->message;
  EXPECT_EQ(rejection->message, message);
}

TEST(CheckSolution, AcceptsReplaysAndALaterStart) {
  EXPECT_FALSE(checkSolution(problem(), goodPlan()));
  EXPECT_FALSE(checkSolution(problem(), bucketPlan()));
  Solution plan = goodPlan();
  Message &last = plan.messages.back();
  last.start += 1;
  last.end += 1;
  last.reconstructed += 1;
  plan.communicationEnd += 1;
  plan.finish = std::max(plan.communicationEnd, plan.computeEnd);
  EXPECT_FALSE(checkSolution(problem(), plan));
}

TEST(CheckSolution, RejectsWhatIsNoPartition) {
  expectRejected(
      goodPlan(), Kind::emptyMessage, [](Solution &p) { p.messages[1].layers.clear(); },
      "J1: message 2: has no layers");
  expectRejected(
      goodPlan(), Kind::layerMissing, [](Solution &p) { p.piggybacks.clear(); },
      "J2: layer 3 is in no message");
  expectRejected(
      goodPlan(), Kind::layerTwice,
      [](Solution &p) {
        p.messages[1].layers = {1, 3};
        p.messages[1].bytes = 60;
      },
      "J3: message 2: layer 2 is in a message already");
  expectRejected(
      goodPlan(), Kind::layerUnknown, [](Solution &p) { p.messages[0].layers = {9}; },
      "J4: message 1: expected layers up to 4, got 10");
  expectRejected(
      goodPlan(), Kind::layerUnknown, [](Solution &p) { p.piggybacks = {4}; },
      "J4: piggyback 1: expected layers up to 4, got 5");
}

TEST(CheckSolution, RejectsSchemesThatAreNotAllowed) {
  expectRejected(
      bucketPlan(), Kind::schemeNotAllowed, [](Solution &p) { p.messages[1].mergeClass = 1; },
      "J5: message 2: layer 4 may not travel in merge class 2");
  expectRejected(
      bucketPlan(), Kind::schemeNotAllowed, [](Solution &p) { p.messages[1].option = 1; },
      "J5: message 2: expected a merge class and a scheme of the problem");
  expectRejected(
      goodPlan(), Kind::schemeNotAllowed, [](Solution &p) { p.messages[0].option = 1; },
      "J5: message 1: layer 2 may not travel alone that way");
  expectRejected(
      bucketPlan(), Kind::carrierNotByFactors,
      [](Solution &p) {
        p.messages[1] = goodPlan().messages[1];
        p.messages[1].layers = {3};
        p.messages[1].bytes = 20;
        p.messages[1].start = p.messages[0].end;
        p.messages[1].end = p.messages[1].reconstructed = p.messages[0].end + 3;
        p.piggybacks = {2};
      },
      "J13: piggyback 1: layer 3 has no carrier that travels alone");
}

TEST(CheckSolution, RejectsWrongNumbers) {
  expectRejected(
      goodPlan(), Kind::wrongBytes, [](Solution &p) { p.messages[1].bytes = 29; },
      "J6: message 2: expected 30 B, got 29 B");
  expectRejected(
      goodPlan(), Kind::notATime, [](Solution &p) { p.messages[1].end = NAN; },
      "J7: message 2: expected a finite time >= 0, got nan");
  expectRejected(
      goodPlan(), Kind::wrongReady, [](Solution &p) { p.messages[1].ready = 1; },
      "J8: message 2: expected ready at 4 s, got 1 s");
  expectRejected(
      goodPlan(), Kind::startsBeforeReady, [](Solution &p) { p.messages[0].start = 1.5; },
      "J9: message 1: starts at 1.5 s, but is ready at 2 s");
  expectRejected(
      bucketPlan(), Kind::channelBusy, [](Solution &p) { p.messages[1].start = 7; },
      "J10: message 2: starts at 7 s, but the channel is busy until 8 s");
  expectRejected(
      goodPlan(), Kind::wrongDuration, [](Solution &p) { p.messages[1].end = 9; },
      "J11: message 2: expected its end at 8 s, got 9 s");
  expectRejected(
      goodPlan(), Kind::wrongFinish, [](Solution &p) { p.finish = 7; },
      "J12: expected channel, device and plan to end at 8, 7 and 8 s, got 8, 7 and 7 s");
  expectRejected(
      goodPlan(), Kind::wrongReconstruction, [](Solution &p) { p.messages[0].reconstructed = 6; },
      "J17: message 1: expected its gradients to exist at 7 s, got 6 s");
}

TEST(CheckSolution, RejectsBrokenLimits) {
  expectRejected(
      bucketPlan(), Kind::messageTooLarge,
      [](Solution &p) {
        p.messages[0].layers = {0, 1, 2};
        p.messages[0].bytes = 51;
      },
      "J14: message 1: expected at most 50 B, got 51 B");
  Problem tight = problem();
  tight.mergeClasses[0].capacity = 60;
  auto rejection = checkSolution(tight, bucketPlan());
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->message, "J15: message 2: expected at most 60 B in merge class 1, got 71 B");
}

TEST(CheckSolution, RejectsDisorder) {
  expectRejected(
      bucketPlan(), Kind::outOfOrder, [](Solution &p) { p.messages[0].layers = {1, 0}; },
      "J16: message 1: layer 1 stands after layer 2");
  expectRejected(
      bucketPlan(), Kind::outOfOrder, [](Solution &p) { std::swap(p.messages[0], p.messages[1]); },
      "J16: message 2: its last layer, 2, comes before message 1's, 4");
}

TEST(CheckSolution, RejectsInterleavedBuckets) {
  Solution plan = bucketPlan();
  plan.messages[0].layers = {0, 2};
  plan.messages[0].bytes = 11;
  plan.messages[1].layers = {1, 3};
  plan.messages[1].bytes = 60;
  Problem wide = problem();
  wide.mergeClasses[0].largestMessage = unlimited;
  plan.messages[0].end = plan.messages[0].reconstructed = plan.messages[0].start + 1 + 0.1 * 11;
  auto rejection = checkSolution(wide, plan);
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->message,
            "J18: message 2: layer 2 comes before layer 3 of the merge class's bucket before");
}

Certificate goodCertificate() { return solve(problem()).certificate; }

void expectCertificateRejected(Kind kind, const std::function<void(Certificate &)> &spoil) {
  Certificate certificate = goodCertificate();
  ASSERT_FALSE(checkBound(problem(), certificate));
  spoil(certificate);
  auto rejection = checkBound(problem(), certificate);
  ASSERT_TRUE(rejection) << "accepted, expected J" << static_cast<int>(kind);
  EXPECT_EQ(rejection->kind, kind) << rejection->message;
}

TEST(CheckBound, RejectsEachForItsReason) {
  expectCertificateRejected(Kind::notARelaxation,
                            [](auto &c) { c.relaxations[0].channelWeight = 1.5; });
  expectCertificateRejected(Kind::notARelaxation,
                            [](auto &c) { c.relaxations[0].lines[0].latency += 0.01; });
  expectCertificateRejected(Kind::boundNotATime, [](auto &c) { c.bound = NAN; });
  expectCertificateRejected(Kind::boundBeaten, [](auto &c) { c.bound *= 1.01; });
}

/// A problem whose bound the relaxations alone do not prove.
Problem hardProblem() {
  for (std::uint64_t seed = 1;; ++seed) {
    Random random(seed);
    ProblemMix mix;
    mix.layers = 12;
    Problem candidate = randomProblem(random, mix);
    if (!validate(candidate).isOk())
      continue;
    const Certificate certificate = solve(candidate).certificate;
    const StateBound bound(candidate, certificate.relaxations, certificate.bound);
    if (bound.isViable(bound.slack(PlanSteps(candidate).root(), 0)))
      return candidate;
  }
}

TEST(CheckBound, RejectsABoundThatIsTooHigh) {
  Problem hard = hardProblem();
  SolverResult result = solve(hard);
  ASSERT_TRUE(result.optimal());
  EXPECT_FALSE(checkBound(hard, result.certificate));
  result.certificate.bound *= 1.001;
  auto rejection = checkBound(hard, result.certificate);
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->kind, Kind::boundBeaten) << rejection->message;
}

/// The judge derives the states, and finds the plan that beats a higher bound.
TEST(CheckBound, DerivesStates) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Problem small = randomSmallProblem(seed, 10, 20000);
    SolverResult result = solve(small);
    ASSERT_TRUE(result.optimal());
    Certificate certificate = result.certificate;
    EXPECT_FALSE(checkBound(small, certificate)) << "seed " << seed;
    certificate.relaxations.clear(); // then it follows every plan
    EXPECT_FALSE(checkBound(small, certificate)) << "seed " << seed;
    certificate.bound *= 1 + 1e-9;
    auto rejection = checkBound(small, certificate);
    ASSERT_TRUE(rejection) << "seed " << seed;
    EXPECT_EQ(rejection->kind, Kind::boundBeaten);
    certificate.relaxations = result.certificate.relaxations;
    rejection = checkBound(small, certificate);
    ASSERT_TRUE(rejection) << "seed " << seed;
    EXPECT_EQ(rejection->kind, Kind::boundBeaten);
  }
}

TEST(CheckBound, GivesUpWhereTooMuchIsOpen) {
  Random random(1);
  ProblemMix mix;
  mix.layers = 300;
  mix.mergeClasses = 3;
  mix.cost = CostKind::concaveTable;
  Problem large = randomProblem(random, mix);
  auto rejection = checkBound(large, {1e9, {}});
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->kind, Kind::tooManyStates);
  EXPECT_TRUE(rejection->message.starts_with("J40: ")) << rejection->message;
}

TEST(CheckProof, ComparesThePlanWithTheBound) {
  Certificate certificate = goodCertificate();
  double bound = certificate.bound;
  EXPECT_FALSE(checkProof(problem(), certificate, bound, true));
  EXPECT_FALSE(checkProof(problem(), certificate, bound * 1.1, false));
  EXPECT_TRUE(checkProof(problem(), certificate, bound * 1.1, true)->starts_with("J36: "));
  EXPECT_TRUE(checkProof(problem(), certificate, bound * 0.9, false)->starts_with("J37: "));
}

} // namespace
} // namespace syncline::proof

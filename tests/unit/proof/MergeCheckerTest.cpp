// The judge of certificates: every numbered reason to reject, on a good one spoilt in one place.
#include "passes/proof/MergeChecker.h"

#include "passes/solver/FinishTimes.h"
#include "tests/unit/solver/RandomMergeProblem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace syncline::proof {

using namespace problem;
using namespace solver;
namespace {

MergeProblem smallProblem() {
  return {{{10, 1.0}, {20, 2.0}, {30, 2.5}, {40, 50.0}},
          {{Scheme::ring, std::make_shared<AffineCost>(1, 0.5)}}};
}

void expectCertificateRejected(MergeRejectionKind kind,
                               const std::function<void(std::vector<double> &)> &spoil,
                               const std::string &message) {
  MergeCertificate certificate{earliestFinishTimes(smallProblem())};
  spoil(certificate.earliestFinish);
  auto rejection = checkMergeBound(smallProblem(), certificate);
  ASSERT_TRUE(rejection) << "accepted: " << message;
  EXPECT_EQ(rejection->kind, kind) << rejection->message;
  EXPECT_EQ(rejection->message, message);
}

/// f = 0, 7, 18, 33, 71 for the small problem.
TEST(CheckBound, RejectsEachWrongCertificate) {
  EXPECT_EQ(earliestFinishTimes(smallProblem()), (std::vector<double>{0, 7, 18, 33, 71}));
  expectCertificateRejected(
      MergeRejectionKind::certificateLength, [](auto &f) { f.pop_back(); },
      "M20: expected 5 entries, got 4");
  expectCertificateRejected(
      MergeRejectionKind::certificateOrigin, [](auto &f) { f[0] = 1; },
      "M21: expected entry 0 to be 0 s, got 1 s");
  expectCertificateRejected(
      MergeRejectionKind::certificateNumber, [](auto &f) { f[2] = std::nan(""); },
      "M22: entry 2: expected a finite time >= 0, got nan");
  expectCertificateRejected(
      MergeRejectionKind::certificateTooLate, [](auto &f) { f[2] = 18.5; },
      "M23: entry 2: expected at most 18 s (a message of layers 1 to 2), got 18.5 s");
}

/// A certificate is tight: raising any one entry by a millionth breaks it, whatever the cost.
TEST(CheckBound, NoticesEveryRaisedEntry) {
  std::uint64_t seed = 0;
  for (CostKind cost : allCostKinds)
    for (LayerKind layers : allLayerKinds) {
      Random random(++seed);
      MergeProblem problem = randomProblem(random, cost, layers, 60);
      MergeCertificate good{earliestFinishTimes(problem)};
      ASSERT_FALSE(checkMergeBound(problem, good)) << "seed " << seed;
      for (std::size_t j = 1; j < good.earliestFinish.size(); ++j) {
        if (good.earliestFinish[j] == 0)
          continue;
        MergeCertificate wrong = good;
        wrong.earliestFinish[j] *= 1 + 1e-6;
        auto rejection = checkMergeBound(problem, wrong);
        ASSERT_TRUE(rejection) << "seed " << seed << ", entry " << j;
        ASSERT_EQ(rejection->kind, MergeRejectionKind::certificateTooLate);
      }
    }
}

/// Entries may lie below the true times: the bound is weaker then, but still one.
TEST(CheckBound, AcceptsAWeakerBound) {
  MergeProblem problem = smallProblem();
  MergeCertificate zero{std::vector<double>(5, 0.0)};
  EXPECT_FALSE(checkMergeBound(problem, zero));
}

} // namespace
} // namespace syncline::proof

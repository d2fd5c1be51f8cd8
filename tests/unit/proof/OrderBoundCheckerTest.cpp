// The judge of bounds on a period: what it accepts, and every numbered reason to reject.
#include "passes/proof/OrderChecker.h"
#include "tests/reference/solver/OrderReference.h"
#include "tests/unit/proof/SmallOrder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace syncline::proof {

using namespace problem;
namespace {

void expectBoundRejected(OrderRejectionKind kind, const std::string &message, double period,
                         const std::function<void(OrderCertificate &)> &spoil) {
  OrderCertificate certificate = goodCertificate();
  spoil(certificate);
  const auto rejection = checkOrderBound(withoutFactors(), certificate, period);
  ASSERT_TRUE(rejection) << "accepted: " << message;
  EXPECT_EQ(rejection->kind, kind) << rejection->message;
  EXPECT_EQ(rejection->message, message);
}

/// With 3 s of latency the second and third layer need 10 s from the moment the third is ready, in
/// one message, or more in two; seen from the end, 11 s before the second is read, since the third
/// is read 3 s earlier.
TEST(CheckOrderBound, CountsTheMessagesThatAreNeeded) {
  OrderProblem slow = withoutFactors();
  slow.sync.mergeClasses[0].options[0].cost = std::make_shared<AffineCost>(3, 1.0 / 64);
  OrderCertificate certificate;
  certificate.ready = 2;
  certificate.tail = 2;
  certificate.lines[0] = {3, 1.0 / 64};
  certificate.bound = 13;
  EXPECT_FALSE(checkOrderBound(slow, certificate, 13));
  certificate.bound = 13.01;
  EXPECT_TRUE(checkOrderBound(slow, certificate, 14));
}

/// A layer that may travel by factors need not wait for a bucket's latency.
TEST(CheckOrderBound, CountsFactors) {
  EXPECT_FALSE(checkOrderBound(withoutFactors(), goodCertificate(), 13));
  EXPECT_TRUE(checkOrderBound(smallProblem(), goodCertificate(), 13));
}

/// Factors take 2 s of the channel instead of the first layer's 4 s, and 40 s of the device. The
/// channel alone then proves nothing, since it needs 7 s, less than the 10 s of computation. With a
/// weight of 0.9, reconstruction counts as 40/9 s, so that buckets are cheaper: 11 s, as without
/// factors, and 0.9 * 11 s + 0.1 * 10 s = 10.9 s.
TEST(CheckOrderBound, WeighsReconstruction) {
  OrderProblem problem = smallProblem();
  OrderCertificate certificate = goodCertificate();
  problem.sync.layers[0].factorOptions[0].reconstruct = 40;
  certificate.bound = 10.9;
  EXPECT_TRUE(checkOrderBound(problem, certificate, 50));
  certificate.channelWeight = 0.9;
  EXPECT_FALSE(checkOrderBound(problem, certificate, 50));
  certificate.bound = 10.91;
  EXPECT_TRUE(checkOrderBound(problem, certificate, 50));
}

TEST(CheckOrderBound, RejectsEachWrongCertificate) {
  using Kind = OrderRejectionKind;
  EXPECT_FALSE(checkOrderBound(withoutFactors(), goodCertificate(), 13));
  expectBoundRejected(Kind::notALine, "O20: expected finite times >= 0, got nan", 13,
                      [](auto &certificate) { certificate.tail = std::nan(""); });
  for (double weight : {0.0, -1.0, 1.5, std::nan("")}) {
    OrderCertificate certificate = goodCertificate();
    certificate.channelWeight = weight;
    EXPECT_TRUE(checkOrderBound(withoutFactors(), certificate, 13)) << weight;
  }
  expectBoundRejected(Kind::notALine,
                      "O20: the line 1.5 s + 0.015625 s/B is not under every cost of merge class 1",
                      13, [](auto &certificate) { certificate.lines[0].latency = 1.5; });
  expectBoundRejected(Kind::boundNotProved, "O21: the certificate proves 10 s, not 11 s", 13,
                      [](auto &certificate) { certificate.lines[0] = {}; });
  expectBoundRejected(Kind::periodBelowBound,
                      "O22: the period of 10.5 s is below the bound of 11 s", 10.5, [](auto &) {});
}

/// Factors for the first layer take 2 s of the channel and 3 s of the device.
OrderProblem splitProblem() {
  OrderProblem problem = smallProblem();
  problem.sync.layers[0].factorOptions[0].reconstruct = 3;
  return problem;
}

/// In a bucket as goodCertificate(). By factors all messages begin at 1 s, take 2 s, 2 s and 1 s
/// and, for the one bucket that there is, 1 s more; 1 s and 3 s to reconstruct follow.
OrderCertificate splitCertificate() {
  OrderCertificate byFactors = goodCertificate();
  byFactors.tail = 4;
  byFactors.bound = 13; // computation, with reconstruction
  OrderCertificate both;
  both.cases = {byFactors, goodCertificate()};
  both.bound = 11;
  return both;
}

/// One sum for both ways proves less than two cases do.
TEST(CheckOrderBound, TakesCases) {
  EXPECT_EQ(checkOrderBound(splitProblem(), splitCertificate(), 13), std::nullopt);
  OrderCertificate one = goodCertificate();
  EXPECT_TRUE(checkOrderBound(splitProblem(), one, 13));
  for (double weight = 0.01; weight <= 1; weight += 0.01) {
    one.channelWeight = weight;
    EXPECT_TRUE(checkOrderBound(splitProblem(), one, 13)) << weight;
  }
}

TEST(CheckOrderBound, RejectsWrongCases) {
  const auto rejects = [](const std::string &message,
                          const std::function<void(OrderCertificate &)> &spoil) {
    OrderCertificate certificate = splitCertificate();
    spoil(certificate);
    const auto rejection = checkOrderBound(splitProblem(), certificate, 13);
    ASSERT_TRUE(rejection) << "accepted: " << message;
    EXPECT_EQ(rejection->message, message);
  };
  const std::string both = ": expected a layer that travels by factors or in a bucket, and two "
                           "cases";
  rejects("O23: layer 2" + both, [](auto &certificate) { certificate.splits = 1; });
  rejects("O23: layer 9" + both, [](auto &certificate) { certificate.splits = 8; });
  rejects("O23: layer 1" + both, [](auto &certificate) { certificate.cases.pop_back(); });
  rejects("O23: layer 1" + both,
          [](auto &certificate) { certificate.cases[1] = splitCertificate(); });
  rejects("O21: the certificate proves 13 s, not 14 s",
          [](auto &certificate) { certificate.cases[0].bound = 14; });
  rejects("O21: the certificate proves 11 s, not 11.5 s",
          [](auto &certificate) { certificate.bound = 11.5; });
  rejects("O20: expected finite times >= 0, got nan",
          [](auto &certificate) { certificate.bound = std::nan(""); });
  rejects("O20: expected finite times >= 0, got nan",
          [](auto &certificate) { certificate.cases[0].bound = std::nan(""); });
}

/// The first layer must travel by factors, for 6 s from 2 s on, and has 5 s behind it. The second
/// one is ready at 4 s, takes 2 s in a bucket and has 8 s behind it.
OrderProblem orderedProblem() {
  OrderProblem problem = withoutFactors();
  FactorOption factors;
  factors.seconds = 6;
  problem.sync.layers = {{256, 2, 0, {factors}, {}}, {64, 4, 1, {}, {}}};
  problem.sync.computeFree = 4;
  problem.tail = {5, 8};
  problem.forward = 8;
  return problem;
}

/// Factors first: from 2 s on 8 s on the channel and the 8 s behind the second layer. Factors last:
/// from 4 s on the same, and 5 s.
OrderCertificate orderedCertificate() {
  OrderCertificate first, last;
  for (OrderCertificate *one : {&first, &last})
    one->lines[0] = {1, 1.0 / 64};
  first.ready = 2;
  first.tail = 8;
  first.bound = 18;
  last.ready = 4;
  last.tail = 5;
  last.bound = 17;
  OrderCertificate both;
  both.splits = 0;
  both.other = 1;
  both.cases = {first, last};
  both.bound = 17;
  return both;
}

/// Two cases prove the shortest period, and no sum for both orders does.
TEST(CheckOrderBound, TellsApartOrders) {
  EXPECT_EQ(checkOrderBound(orderedProblem(), orderedCertificate(), 17), std::nullopt);
  EXPECT_DOUBLE_EQ(reference::shortestPeriod(orderedProblem()), 17);
  for (std::size_t i : {0, 1}) {
    OrderCertificate tooMuch = orderedCertificate();
    tooMuch.cases[i].bound += 0.01;
    EXPECT_TRUE(checkOrderBound(orderedProblem(), tooMuch, 17)) << i;
  }
  OrderCertificate one = orderedCertificate().cases[0];
  one.bound = 15.5;
  for (double ready : {0.0, 2.0, 4.0})
    for (double tail : {0.0, 5.0, 8.0}) {
      one.ready = ready;
      one.tail = tail;
      EXPECT_TRUE(checkOrderBound(orderedProblem(), one, 17)) << ready << " " << tail;
    }
}

TEST(CheckOrderBound, RejectsWrongOrders) {
  const auto rejects = [](const std::string &message,
                          const std::function<void(OrderCertificate &)> &spoil) {
    OrderCertificate certificate = orderedCertificate();
    spoil(certificate);
    OrderProblem problem = orderedProblem();
    problem.sync.layers.push_back(smallProblem().sync.layers[0]); // travels both ways
    problem.sync.layers.back().ready = 4;
    problem.tail.push_back(8);
    const auto rejection = checkOrderBound(problem, certificate, 20);
    ASSERT_TRUE(rejection) << "accepted: " << message;
    EXPECT_EQ(rejection->message, message);
  };
  const std::string both =
      ": expected one that must travel by factors, another one that travels by "
      "itself, and two cases";
  rejects("O23: layers 1 and 1" + both, [](auto &certificate) { certificate.other = 0; });
  rejects("O23: layers 1 and 5" + both, [](auto &certificate) { certificate.other = 4; });
  rejects("O23: layers 2 and 1" + both, [](auto &certificate) {
    certificate.splits = 1;
    certificate.other = 0;
  });
  rejects("O23: layers 3 and 1" + both, [](auto &certificate) {
    certificate.splits = 2;
    certificate.other = 0;
  });
  rejects("O23: layers 1 and 2" + both, [](auto &certificate) { certificate.cases.pop_back(); });
  // Behind an order, ways are not told apart.
  rejects("O23: layer 3: expected a layer that travels by factors or in a bucket, and two cases",
          [](auto &certificate) {
            const OrderCertificate one = certificate.cases[0];
            certificate.cases[0].splits = 2;
            certificate.cases[0].cases = {one, one};
          });
}

/// Eight layers whose way can be told apart make 256 cases.
TEST(CheckOrderBound, RejectsTooManyCases) {
  OrderProblem problem = smallProblem();
  problem.sync.layers.resize(1);
  problem.tail.resize(1);
  while (problem.sync.layers.size() < 8) {
    problem.sync.layers.push_back(problem.sync.layers.front());
    problem.tail.push_back(problem.tail.front());
  }
  const std::function<OrderCertificate(std::size_t)> splitFrom = [&](std::size_t layer) {
    OrderCertificate certificate;
    certificate.splits = layer;
    if (layer < problem.tail.size())
      certificate.cases = {splitFrom(layer + 1), splitFrom(layer + 1)};
    return certificate;
  };
  EXPECT_EQ(checkOrderBound(problem, splitFrom(2), 100), std::nullopt);
  const auto rejection = checkOrderBound(problem, splitFrom(0), 100);
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->message, "O23: expected at most 64 cases");
}

} // namespace
} // namespace syncline::proof

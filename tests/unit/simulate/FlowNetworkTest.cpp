// Max-min fairness, against a slow and obvious filling, and the loads.
#include "passes/simulate/FlowNetwork.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

using namespace syncline::simulate;

namespace {

/// The latest prediction of every flow.
using Endings = std::map<int, FlowNetwork::Ending>;

void settle(FlowNetwork &network, double now, Endings &endings) {
  network.settle(now, [&](const FlowNetwork::Ending &ending) { endings[ending.flow] = ending; });
}

Path path(std::initializer_list<Use> uses) {
  Path result;
  std::ranges::copy(uses, result.begin());
  return result;
}

/// Raises all rates together, step by step, and stops those whose resource is full.
std::vector<double> fill(const std::vector<double> &capacity, const std::vector<Path> &flows) {
  std::vector<double> rate(flows.size(), 0);
  std::vector<bool> isFixed(flows.size(), false);
  for (std::size_t round = 0; round < capacity.size(); ++round) {
    double rise = 1e300;
    std::size_t tightest = capacity.size();
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      double used = 0, weight = 0;
      for (std::size_t f = 0; f < flows.size(); ++f)
        for (const Use &use : flows[f])
          if (use.resource == static_cast<int>(r)) {
            used += rate[f] * use.weight;
            weight += isFixed[f] ? 0 : use.weight;
          }
      if (weight > 0 && (capacity[r] - used) / weight < rise) {
        rise = (capacity[r] - used) / weight;
        tightest = r;
      }
    }
    if (tightest == capacity.size())
      break;
    for (std::size_t f = 0; f < flows.size(); ++f)
      rate[f] += isFixed[f] ? 0 : rise;
    for (std::size_t f = 0; f < flows.size(); ++f)
      for (const Use &use : flows[f])
        if (use.resource == static_cast<int>(tightest))
          isFixed[f] = true;
  }
  return rate;
}

} // namespace

TEST(FlowNetworkTest, SharesOneResourceEvenlyAndGivesBackWhatEnds) {
  FlowNetwork network;
  const int link = network.addResource(10);
  Endings endings;
  const int small = network.start(0, path({{link}}), 10, 7);
  const int large = network.start(0, path({{link}}), 30, 8);
  settle(network, 0, endings);
  EXPECT_DOUBLE_EQ(endings[small].time, 2);
  EXPECT_EQ(network.finish(endings[small]), 7u);
  settle(network, 2, endings);
  EXPECT_DOUBLE_EQ(endings[large].time, 4); // 10 of 30 bytes by 2 s, the rest at 10 B/s
  EXPECT_EQ(network.finish(endings[large]), 8u);
  EXPECT_DOUBLE_EQ(network.load(link).bytes, 40);
  EXPECT_DOUBLE_EQ(network.load(link).busy, 4);
}

TEST(FlowNetworkTest, AFlowThatComesLaterSlowsTheFirst) {
  FlowNetwork network;
  const int link = network.addResource(10);
  Endings endings;
  const int first = network.start(0, path({{link}}), 20, 0);
  settle(network, 0, endings);
  const FlowNetwork::Ending early = endings[first];
  network.start(1, path({{link}}), 100, 0);
  settle(network, 1, endings);
  EXPECT_FALSE(network.isCurrent(early));
  EXPECT_DOUBLE_EQ(endings[first].time, 3);
}

TEST(FlowNetworkTest, GivesEveryFlowItsMaxMinShare) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    FlowNetwork network;
    std::vector<double> capacity;
    for (int r = 0; r < 6; ++r) {
      capacity.push_back(1 + static_cast<double>(random() % 100));
      network.addResource(capacity.back());
    }
    std::vector<Path> flows;
    Endings endings;
    for (int f = 0; f < 12; ++f) {
      const int first = static_cast<int>(random() % 6), second = static_cast<int>(random() % 5);
      const double weight = 1 + static_cast<double>(random() % 30) / 7; // no float
      flows.push_back(path({{first}, {second + (second >= first), weight}}));
      network.start(0, flows.back(), 1000, 0);
    }
    settle(network, 0, endings);
    const std::vector<double> rate = fill(capacity, flows);
    for (int f = 0; f < 12; ++f)
      EXPECT_NEAR(1000 / endings[f].time, rate[f], 1e-6 * rate[f]) << "trial " << trial;
  }
}

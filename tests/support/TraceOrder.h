// Order problems of layer traces, by hand and without the compiler.
#pragma once

#include "passes/problem/OrderProblem.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace syncline::test {

struct TraceLayer {
  std::int64_t bytes = 0;
  double forward = 0, backward = 0; ///< seconds
};

/// The rows of samples/traces: name,bytes,forward,backward in B and ms.
inline std::vector<TraceLayer> readTrace(const std::string &path) {
  std::ifstream file(path);
  std::vector<TraceLayer> layers;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string name, bytes, forward, backward;
    std::getline(cells, name, ',');
    std::getline(cells, bytes, ',');
    std::getline(cells, forward, ',');
    std::getline(cells, backward, ',');
    layers.push_back({std::stoll(bytes), std::stod(forward) * 1e-3, std::stod(backward) * 1e-3});
  }
  return layers;
}

/// Latency of 50 us, nothing for sums.
inline problem::LinkRates linkRates(double gigabits) { return {50e-6, 8 / (gigabits * 1e9), 0}; }

/// The order problem of a trace on `ranks` ranks in a ring, all links of `gigabits` Gb/s.
inline problem::OrderProblem problemOf(const std::vector<TraceLayer> &trace, int ranks,
                                       double gigabits) {
  problem::OrderProblem problem;
  const problem::LinkRates rates = linkRates(gigabits);
  problem.sync.mergeClasses = {
      {{{Scheme::ring, problem::formulaCost(Scheme::ring, ranks, rates)}}}};
  double ready = 0;
  for (std::size_t i = trace.size(); i-- > 0;) {
    ready += trace[i].backward;
    problem.sync.layers.push_back({trace[i].bytes, ready, 1, {}, {}});
    problem.forward += trace[i].forward;
    problem.tail.push_back(problem.forward);
  }
  problem.sync.computeFree = ready;
  return problem;
}

} // namespace syncline::test

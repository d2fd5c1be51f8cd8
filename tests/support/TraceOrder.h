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
  /// Inputs, outputs and samples per rank of a product by a matrix; 0 in other layers.
  std::int64_t inputs = 0, outputs = 0, samples = 0;
};

/// The rows of samples/traces: name,bytes,forward,backward,M,N,K in B and ms.
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
    for (std::int64_t *size :
         {&layers.back().inputs, &layers.back().outputs, &layers.back().samples})
      if (std::string cell; std::getline(cells, cell, ',') && !cell.empty())
        *size = std::stoll(cell);
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

/// As problemOf(), by any all-reduce and, for products by a matrix, by factors. A share is
/// reconstructed in the time of the layer's forward pass, which has as many operations.
inline problem::OrderProblem problemOfAllSchemes(const std::vector<TraceLayer> &trace, int ranks,
                                                 double gigabits) {
  problem::OrderProblem problem = problemOf(trace, ranks, gigabits);
  const problem::LinkRates rates = linkRates(gigabits);
  for (Scheme scheme : {Scheme::recursiveDoubling, Scheme::halvingDoubling, Scheme::tree})
    problem.sync.mergeClasses[0].options.push_back(
        {scheme, problem::formulaCost(scheme, ranks, rates)});
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TraceLayer &layer = trace[i];
    const auto bytes = static_cast<double>(4 * layer.samples * (layer.inputs + layer.outputs));
    if (bytes > 0)
      problem.sync.layers[trace.size() - 1 - i].factorOptions.push_back(
          {.seconds = (ranks - 1) * (rates.latency + bytes * rates.secondsPerByte),
           .reconstruct = (ranks - 1) * layer.forward});
  }
  return problem;
}

} // namespace syncline::test

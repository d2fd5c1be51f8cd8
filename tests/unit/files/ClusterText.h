// Cluster files as text, for tests.
#pragma once

#include "frontend/files/ClusterFile.h"
#include "tests/support/Results.h"

#include <string>
#include <string_view>

namespace syncline::files {

/// A file of `nodes` with two devices each and a network, four lines; `rest` follows.
inline std::string lab(int nodes, std::string_view rest) {
  return "name: lab\nnodes: " + std::to_string(nodes) +
         "\ndevices-per-node: 2\nnetwork: {bandwidth: 1 Gb/s, latency: 50us, "
         "reduce-rate: 4 GB/s}\n" +
         std::string(rest) + "\n";
}

/// The cluster of a right file; a test that reads a wrong one fails.
inline ClusterFile read(const std::string &text) {
  return test::valueOf(parseClusterFile(text, "c.yaml"));
}

/// The message with which a wrong file is refused.
inline std::string failure(std::string_view text) {
  return test::messageOf(parseClusterFile(text, "c.yaml"));
}

} // namespace syncline::files

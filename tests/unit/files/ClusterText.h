// Cluster files as text, for tests.
#pragma once

#include "frontend/files/ClusterFile.h"

#include <gtest/gtest.h>

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
  const Result<ClusterFile> cluster = parseClusterFile(text, "c.yaml");
  EXPECT_TRUE(cluster) << cluster.status().message();
  return cluster ? *cluster : ClusterFile();
}

/// The message with which a wrong file is refused.
inline std::string failure(const std::string &text) {
  const Result<ClusterFile> cluster = parseClusterFile(text, "c.yaml");
  return cluster ? "no error" : cluster.status().message();
}

} // namespace syncline::files

// A plan folder with nothing but messages, as `compile --plan-only` writes it.
#pragma once

#include "tests/support/TemporaryFolder.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace syncline::testing {

/// A message with members of so many elements of f32.
struct TestMessage {
  std::string scheme = "ring";
  std::vector<int> counts = {1000};
  int channel = 0;
};

class PlanOfMessages {
public:
  PlanOfMessages(int ranks, const std::vector<TestMessage> &messages, int devicesPerNode = 1);

  const std::string &folder() const { return files.path; }
  /// Writes plan.json again with a fresh hash.
  void seal();
  nlohmann::json json;

private:
  test::TemporaryFolder files;
};

} // namespace syncline::testing

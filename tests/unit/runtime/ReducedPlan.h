// A plan folder written by hand whose weights travel by all-reduces.
#pragma once

#include "TinyPlan.h"

namespace syncline::testing {

class ReducedPlan : public TinyPlan {
public:
  /// `numbers` has the form and its numbers, as plan.json has them. A message of "diloco" is under
  /// way while a step computes.
  ReducedPlan(int ranks, const nlohmann::json &numbers) : TinyPlan(ranks, 5) {
    const bool isElastic = numbers["form"] == "easgd";
    const int period = numbers["period"], start = numbers["form"] == "diloco" ? period - 1 : period;
    nlohmann::json consistency = numbers;
    consistency["text"] = "the form";
    consistency["exchanges"] = nlohmann::json::array({{{"id", 0},
                                                       {"scheme", "tree"},
                                                       {"offset", 0},
                                                       {"extent", 128},
                                                       {"start", isElastic ? 0 : start},
                                                       {"wait", isElastic ? 1 : period}}});
    consistency["shards"] = nlohmann::json::array();
    json["consistency"] = consistency;
    seal();
  }
};

} // namespace syncline::testing

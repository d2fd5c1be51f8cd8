// A plan folder written by hand whose weights travel by servers.
#pragma once

#include "TinyPlan.h"

namespace syncline::testing {

class ServedPlan : public TinyPlan {
public:
  /// `numbers` has the form and its numbers, as plan.json has them. Weights are cut into two shards
  /// where there are two servers, dedicated or ranks.
  ServedPlan(int ranks, int servers, const nlohmann::json &numbers)
      : TinyPlan(ranks, 5, "", "ring", servers) {
    const int shards = std::min(2, servers > 0 ? servers : ranks);
    const bool isElastic = numbers["form"] == "easgd";
    nlohmann::json consistency = numbers;
    consistency["text"] = "the form";
    consistency["exchanges"] = nlohmann::json::array({{{"id", 0},
                                                       {"scheme", "parameter-server"},
                                                       {"offset", 0},
                                                       {"extent", 128},
                                                       {"start", isElastic ? 0 : 1},
                                                       {"wait", 1}}});
    consistency["shards"] = nlohmann::json::array();
    for (int i = 0; i < shards; ++i)
      consistency["shards"].push_back(
          {{"server", i}, {"offset", 128 / shards * i}, {"extent", 128 / shards}});
    json["consistency"] = consistency;
    // Buckets are only updated, by gradients of the rank alone or a part of their mean.
    seal();
  }
};

} // namespace syncline::testing

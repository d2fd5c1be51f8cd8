// plan.json with what the C interface reads.
#include "tests/unit/api/PlanOfMessages.h"

#include "runtime/core/TextDigest.h"
#include "syncline/PlanConstants.h"

#include <fstream>

namespace syncline::testing {

using Json = nlohmann::json;

PlanOfMessages::PlanOfMessages(int ranks, const std::vector<TestMessage> &messages,
                               int devicesPerNode) {
  Json layers = Json::array(), buckets = Json::array();
  for (std::size_t m = 0; m < messages.size(); ++m) {
    Json names = Json::array();
    int bytes = 0;
    for (std::size_t i = 0; i < messages[m].counts.size(); ++i) {
      names.push_back("m" + std::to_string(m) + ".p" + std::to_string(i));
      layers.push_back(
          {{"name", names.back()}, {"bytes", 4 * messages[m].counts[i]}, {"ready", 0.5}});
      bytes += 4 * messages[m].counts[i];
    }
    buckets.push_back({{"id", m},
                       {"members", names},
                       {"bytes", bytes},
                       {"scheme", messages[m].scheme},
                       {"channel", messages[m].channel},
                       {"ready", 0.5},
                       {"start", 1.0},
                       {"end", 1.5},
                       {"reconstructed", 1.5},
                       {"traffic", 0},
                       {"offset", nullptr},
                       {"extent", nullptr}});
  }
  json = {{"schema", planSchema},
          {"name", "messages"},
          {"ranks", ranks},
          {"servers", 0},
          {"wire", "fp32"},
          {"overlap", "backward"},
          {"consistency", nullptr},
          {"runnable", false},
          {"tensors", Json::array()},
          {"buckets", buckets},
          {"layers", layers},
          {"predicted", {{"step", 2.0}}},
          {"cluster",
           {{"devices_per_node", devicesPerNode},
            {"cards_per_node", 1},
            {"half_duplex", false},
            {"link", {{"alpha", 1e-4}, {"beta", 1e-9}, {"gamma", 0}}},
            {"inside", nullptr},
            {"collectives", Json::array()},
            {"overrides", Json::array()}}},
          {"hashes", {{"model", "none"}, {"plan", ""}}}};
  seal();
}

void PlanOfMessages::seal() {
  json["hashes"]["plan"] = "";
  json["hashes"]["plan"] = core::digestOf(json.dump());
  std::ofstream(files.file("plan.json")) << json.dump(1);
}

} // namespace syncline::testing

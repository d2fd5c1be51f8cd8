// Samples a second, scaling, and where times come from.
#include "frontend/report/Throughput.h"
#include "frontend/report/Provenance.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace syncline;
using namespace syncline::report;
using nlohmann::json;

namespace {

json device(json compute, json memory) { return {{"compute", compute}, {"memory", memory}}; }

json cluster(const json &collectives = json::array(), const json &overrides = json::array()) {
  return {{"device", device(15.7e12, 9e11)},
          {"collectives", collectives},
          {"link", {{"protocols", false}}},
          {"inside", nullptr},
          {"overrides", overrides}};
}

json provenance(const char *times, int measured, json kind, double efficiency) {
  return {{"times", times},       {"profile", "P.json"}, {"operations", 127},
          {"measured", measured}, {"device", kind},      {"efficiency", efficiency}};
}

std::string firstLine(const std::string &text) { return text.substr(0, text.find('\n')); }

} // namespace

// 4 ranks of 32 samples in 0.1 s; one of them alone would take 80 ms.
TEST(ThroughputTest, CountsAllRanksAndComparesWithOne) {
  const Throughput four{4, 32, 0.1, 0.08};
  EXPECT_DOUBLE_EQ(four.samplesPerSecond(), 1280);
  EXPECT_DOUBLE_EQ(four.efficiency(), 0.8);
  EXPECT_EQ(throughputText(four),
            "1280 samples/s on 4 ranks, scaling efficiency 80.00 % of one device alone (80.00 ms a "
            "step)");
  EXPECT_EQ(throughputText({1, 32, 0.1, 0.1}), "320.0 samples/s on 1 rank");
  EXPECT_EQ(throughputText({4, 0, 0.1, 0.08}),
            "scaling efficiency 80.00 % of one device alone (80.00 ms a step)");
  EXPECT_EQ(throughputText({4, 0, 0.1, 0}), "");
}

TEST(ProvenanceTest, SaysWhatWasMeasured) {
  EXPECT_EQ(firstLine(provenanceText(provenance("profile", 127, nullptr, 1), cluster())),
            "compute: profile P.json, 127 of 127 operations");
  EXPECT_EQ(firstLine(provenanceText(provenance("profile", 100, nullptr, 1), cluster())),
            "compute: profile P.json, 100 of 127 operations; the others estimated from the cluster "
            "file's rates (15.7 TFLOP/s, 900 GB/s)");
  json whole = provenance("profile", 0, nullptr, 1); // of a model without its step
  whole["operations"] = 0;
  EXPECT_EQ(firstLine(provenanceText(whole, cluster())), "compute: profile P.json");
  EXPECT_EQ(firstLine(provenanceText(provenance("rates", 0, "v100", 1), cluster())),
            "compute: estimated from the data sheet's peak (v100: 15.7 TFLOP/s, 900 GB/s); real "
            "kernels reach less: --profile, or device.efficiency");
  json less = cluster(); // reached rates
  less["device"] = device(0.7 * 15.7e12, 0.7 * 900e9);
  EXPECT_EQ(firstLine(provenanceText(provenance("rates", 0, "v100", 0.7), less)),
            "compute: estimated from 70 % of the data sheet's peak (v100: 15.7 TFLOP/s, 900 GB/s)");
  less["device"] = device(60e9, 10e9);
  EXPECT_EQ(firstLine(provenanceText(provenance("rates", 0, "cpu", 1), less)),
            "compute: estimated from a usual processor's rates (cpu: 60.0 GFLOP/s, 10.0 GB/s); "
            "--profile has this machine's");
  less["device"] = device(60e9, 20e9); // a rate that the cluster file states
  EXPECT_EQ(firstLine(provenanceText(provenance("rates", 0, "cpu", 1), less)),
            "compute: estimated from the cluster file's rates (cpu: 60.0 GFLOP/s, 20.0 GB/s); "
            "--profile has this machine's");
  json kernels = cluster();
  kernels["device"]["like"] = "best";
  EXPECT_EQ(
      firstLine(provenanceText(provenance("rates", 0, "v100", 0.7), kernels)),
      "compute: predicted by kernels of v100, like 'best', at 70 % of its rates (compared with "
      "no published run); --profile has this machine's");
  kernels["device"]["like"] = "pytorch";
  const std::string doubted = provenanceText(provenance("rates", 0, "v100", 1), kernels);
  EXPECT_TRUE(
      doubted.starts_with("compute: predicted by kernels of v100, like 'pytorch' (off by at "
                          "most "))
      << doubted;
  EXPECT_NE(doubted.find(" published runs, by "), std::string::npos) << doubted;
  for (auto [kind, said] :
       {std::pair("v100-pcie", "the only published run, too few for a range of the step);"),
        {"rtx-3080", "half of 2 published runs, too few for a range of the step);"}}) {
    const std::string few = provenanceText(provenance("rates", 0, kind, 1), kernels);
    EXPECT_NE(few.find(said), std::string::npos) << few;
  }
  EXPECT_EQ(firstLine(provenanceText(provenance("trace", 0, nullptr, 1), cluster())),
            "compute: as the layer trace says");
  EXPECT_EQ(provenanceText(json(), cluster()), "");
}

// A formula is derived from rates, a line or table was measured.
TEST(ProvenanceTest, SaysWhetherLinksAreCalibrated) {
  const json line = {{"scheme", "ring"}, {"cost", {{"kind", "line"}, {"a", 1}, {"b", 1}}}},
             formula = {{"scheme", "tree"}, {"cost", {{"kind", "formula"}}}};
  EXPECT_TRUE(provenanceText(provenance("rates", 0, nullptr, 1), cluster(json::array({formula})))
                  .ends_with("\nlinks: nominal, by the cluster file's bandwidth and latency\n"));
  EXPECT_TRUE(
      provenanceText(provenance("rates", 0, nullptr, 1), cluster(json::array({line, formula})))
          .ends_with("\nlinks: calibrated, the cluster file states the times of ring\n"));
  for (const char *link : {"link", "inside"}) {
    json fitted = cluster();
    fitted[link] = {{"protocols", true}};
    EXPECT_TRUE(
        provenanceText(provenance("rates", 0, nullptr, 1), fitted)
            .ends_with("\nlinks: estimated from published NCCL all-reduces on such links, or "
                       "from typical values where none is published; 'syncline calibrate' "
                       "measures this cluster\n"));
    fitted[link] = {{"protocols", false}};
    EXPECT_NE(provenanceText(provenance("rates", 0, nullptr, 1), fitted).find("links: nominal"),
              std::string::npos);
    fitted[link] = json::object(); // a plan of an earlier schema
    EXPECT_THROW(provenanceText(provenance("rates", 0, nullptr, 1), fitted), json::out_of_range);
  }
}

TEST(ProvenanceTest, NamesSlowNodes) {
  const json slow = {{"nodes", {3}}, {"slowdown", 1.5}}, two = {{"nodes", {0, 2}}, {"slowdown", 2}},
             fast = {{"nodes", {1}}, {"slowdown", 0.5}};
  EXPECT_EQ(slowNodesText(cluster(json::array(), json::array({slow, two, fast}))),
            "node 3 computes 1.5 times as long (overrides of the cluster file): every step waits "
            "for it\n"
            "nodes 0, 2 compute 2 times as long (overrides of the cluster file): every step waits "
            "for them\n");
}

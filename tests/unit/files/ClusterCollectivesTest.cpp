// Costs that a cluster file states: what each form means, and what each mistake is told.
#include "tests/unit/files/ClusterText.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

/// A file of four ranks with a network and these collectives, in its fourth line.
std::string withCollectives(std::string_view collectives) {
  return "name: lab\nranks: 4\nnetwork: {bandwidth: 1 Gb/s, latency: 50us}\ncollectives: " +
         std::string(collectives) + "\n";
}

/// The costs that a good file states.
std::vector<StatedCost> stated(const std::string &text) { return read(text).collectives; }

// A device is optional; a fitted line needs no network and stands for the ring.
TEST(ClusterCollectives, FittedLine) {
  const auto cluster = parseClusterFile(
      "{name: v100, ranks: 16, collectives: {all-reduce: {a: 9.08e-4 s, b: 7.4e-10 s/B}}}", "c");
  ASSERT_TRUE(cluster) << cluster.status().message();
  EXPECT_FALSE(cluster->network);
  EXPECT_FALSE(cluster->device.compute);
  ASSERT_EQ(cluster->collectives.size(), 1u);
  EXPECT_EQ(cluster->collectives[0].scheme, Scheme::ring);
  const auto *line = std::get_if<AffineCost>(&cluster->collectives[0].time);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->a, 9.08e-4);
  EXPECT_EQ(line->b, 7.4e-10);
}

// A cost of any form may say how much its messages slow operations.
TEST(ClusterCollectives, Interference) {
  const auto costs = stated(withCollectives(
      "{all-reduce: {ring: {formula: ring, interference: 1.4}, tree: {table: [[1KiB, 1ms]], "
      "interference: 1}}, all-gather: {a: 0s, b: 1us/B}}"));
  ASSERT_EQ(costs.size(), 3u);
  EXPECT_EQ(costs[0].interference, 1.4);
  EXPECT_EQ(costs[1].interference, 1.0);
  EXPECT_FALSE(costs[2].interference);
  const std::pair<const char *, const char *> refused[] = {{"0.99", "'0.99'"},
                                                           {"1000.5", "'1000.5'"},
                                                           {"nan", "'nan'"},
                                                           {"much", "'much'"},
                                                           {"[1.4, 1.9]", "a list"}};
  for (const auto &[bad, got] : refused)
    EXPECT_EQ(failure(withCollectives(
                  "{all-gather: {a: 0s, b: 1us/B, interference: " + std::string(bad) + "}}")),
              "c.yaml:4:59: 'collectives.all-gather.interference': expected a number from 1 to "
              "1000 such as 1.5, or a map with the keys 'computation', 'products', 'memory', got " +
                  std::string(got));
}

// The number may be a map of classes of operations.
TEST(ClusterCollectives, InterferenceByClass) {
  const auto costs = stated(withCollectives("{all-gather: {a: 0s, b: 1us/B, interference: "
                                            "{computation: 1.4, memory: 1.9}}}"));
  ASSERT_EQ(costs.size(), 1u);
  EXPECT_EQ(costs[0].interference, 1.4);
  EXPECT_FALSE(costs[0].interferenceBy.products);
  EXPECT_EQ(costs[0].interferenceBy.memory, 1.9);
  const auto bad = [](const std::string &map) {
    return failure(withCollectives("{all-gather: {a: 0s, b: 1us/B, interference: {" + map + "}}}"));
  };
  EXPECT_EQ(
      bad("memory: 0.5"),
      "c.yaml:4:68: 'collectives.all-gather.interference.memory': expected a number from 1 to "
      "1000 such as 1.5, got '0.5'");
  EXPECT_NE(bad("latency: 2").find("unknown key 'latency'"), std::string::npos);
}

// A measured table keeps its points.
TEST(ClusterCollectives, MeasuredTable) {
  const auto costs = stated("name: t\nranks: 4\ncollectives:\n  all-reduce:\n    table:\n"
                            "      - [4KiB, 0.1ms]\n      - [1MiB, 2ms]\n");
  ASSERT_EQ(costs.size(), 1u);
  const auto *table = std::get_if<TableCost>(&costs[0].time);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->points.size(), 2u);
  EXPECT_EQ(table->points[1].bytes, 1 << 20);
  EXPECT_EQ(table->points[1].seconds, 0.002);
}

// A formula names its scheme and takes constants from the network unless it has its own.
TEST(ClusterCollectives, FormulaConstants) {
  const auto costs =
      stated(withCollectives("{all-reduce: {formula: halving-doubling, alpha: 1ms}}"));
  ASSERT_EQ(costs.size(), 1u);
  EXPECT_EQ(costs[0].scheme, Scheme::halvingDoubling);
  const auto *formula = std::get_if<FormulaCost>(&costs[0].time);
  ASSERT_TRUE(formula);
  EXPECT_EQ(formula->algorithm, Scheme::halvingDoubling);
  EXPECT_EQ(schemeName(formula->algorithm), "halving-doubling");
  EXPECT_EQ(formula->alpha, 1e-3);
  EXPECT_EQ(formula->beta, 8e-9);
}

// All-reduces may each have a cost; the order is that of the schemes, whatever the file's.
TEST(ClusterCollectives, CostsByScheme) {
  const auto costs =
      stated(withCollectives("{all-reduce: {library: {table: [[0B, 1s]]}, hierarchical: "
                             "{a: 4s, b: 0 s/B}, tree: {formula: tree}, ring: {table: "
                             "[[0B, 2s]]}}}"));
  ASSERT_EQ(costs.size(), 4u);
  EXPECT_EQ(costs[0].scheme, Scheme::ring);
  EXPECT_EQ(std::get<TableCost>(costs[0].time).points[0].seconds, 2);
  EXPECT_EQ(costs[1].scheme, Scheme::tree);
  EXPECT_EQ(std::get<FormulaCost>(costs[1].time).alpha, 50e-6);
  EXPECT_EQ(costs[2].scheme, Scheme::hierarchical);
  EXPECT_EQ(std::get<AffineCost>(costs[2].time).a, 4);
  EXPECT_EQ(costs[3].scheme, Scheme::library);
  EXPECT_EQ(std::get<TableCost>(costs[3].time).points[0].seconds, 1);
}

// Other collectives have keys of their own; an all-gather's cost is that of factors.
TEST(ClusterCollectives, OtherCollectives) {
  const auto costs = stated(withCollectives(
      "{all-gather: {a: 1s, b: 2 s/B}, parameter-server: {table: [[1B, 3s]]}, reduce-scatter: "
      "{formula: reduce-scatter, beta: 4 s/B}}"));
  ASSERT_EQ(costs.size(), 3u);
  EXPECT_EQ(costs[0].scheme, Scheme::reduceScatter);
  EXPECT_EQ(std::get<FormulaCost>(costs[0].time).algorithm, Scheme::reduceScatter);
  EXPECT_EQ(std::get<FormulaCost>(costs[0].time).beta, 4);
  EXPECT_EQ(costs[1].scheme, Scheme::parameterServer);
  EXPECT_EQ(std::get<TableCost>(costs[1].time).points[0].seconds, 3);
  EXPECT_EQ(costs[2].scheme, Scheme::factors);
  EXPECT_EQ(std::get<AffineCost>(costs[2].time).b, 2);
}

// A cost of servers is enough to plan with. A cost of an all-gather is not, because few gradients
// have factors.
TEST(ClusterCollectives, EnoughWithoutNetwork) {
  EXPECT_EQ(
      stated("{name: n, ranks: 4, collectives: {parameter-server: {a: 1s, b: 0 s/B}}}").size(), 1u);
  EXPECT_EQ(
      failure("{name: n, ranks: 4, collectives: {all-gather: {a: 1s, b: 0 s/B}}}"),
      "c.yaml:1:1: expected a 'network' or the time of 'collectives.all-reduce', got neither");
}

// Each scheme's name, as the file spells it.
TEST(ClusterCollectives, Names) {
  std::string names;
  for (int i = 0; i < 10; ++i)
    names += std::string(schemeName(static_cast<Scheme>(i))) + " ";
  EXPECT_EQ(names, "ring recursive-doubling halving-doubling tree reduce-scatter hierarchical "
                   "parameter-server factors sparse library ");
}

// An all-reduce's time has one form, complete.
TEST(ClusterCollectives, OneForm) {
  auto allReduce = [](const std::string &text) {
    return failure("name: lab\nranks: 4\ncollectives: {all-reduce: " + text + "}\n");
  };
  EXPECT_NE(allReduce("{}").find("expected exactly one of"), std::string::npos);
  EXPECT_NE(allReduce("{a: 1ms, b: 1 ns/B, formula: ring}").find("expected exactly one of"),
            std::string::npos);
  EXPECT_NE(allReduce("{a: 1ms}").find("expected the key 'b', got none"), std::string::npos);
  EXPECT_NE(allReduce("{a: 1ms, b: 1 ns/B, alpha: 1ms}").find("only beside 'formula'"),
            std::string::npos);
  EXPECT_NE(allReduce("{formula: ring}").find("expected a 'network', or 'alpha' and 'beta' here"),
            std::string::npos);
  EXPECT_NE(allReduce("{formula: rong, alpha: 1ms, beta: 1 ns/B}").find("did you mean 'ring'?"),
            std::string::npos);
  EXPECT_NE(allReduce("{a: 1ms, b: 1}")
                .find("'collectives.all-reduce.b': expected a time per byte "
                      "with a unit such as '7.4e-10 s/B', got '1'"),
            std::string::npos);
}

// A table has ascending points with units.
TEST(ClusterCollectives, BadTables) {
  auto table = [](const std::string &text) {
    return failure("name: lab\nranks: 4\ncollectives: {all-reduce: {table: " + text + "}}\n");
  };
  EXPECT_NE(table("[]").find("at least one point"), std::string::npos);
  EXPECT_NE(table("[[1KB]]").find("expected a size and a time, got 1 values"), std::string::npos);
  EXPECT_NE(table("[[2KB, 1ms], [1KB, 2ms]]")
                .find("'collectives.all-reduce.table[1][0]': expected sizes in ascending order, "
                      "got 1000 B after 2000 B"),
            std::string::npos);
  EXPECT_NE(table("[[1KiB, 5ms], [2KiB, 3ms]]")
                .find("'collectives.all-reduce.table[1][1]': expected no less than the 5.00 ms of "
                      "1024 B, got 3.00 ms: a table must not fall with size"),
            std::string::npos);
  EXPECT_EQ(table("[[1KiB, 5ms], [2KiB, 5ms]]").find("fall"), std::string::npos);
  EXPECT_NE(table("[[1024, 1ms]]").find("with a unit such as"), std::string::npos);
}

// One cost and costs by scheme do not mix, and each scheme's formula is its own.
TEST(ClusterCollectives, BadCostsByScheme) {
  EXPECT_EQ(failure(withCollectives("{all-reduce: {tree: {formula: tree}, a: 1s, b: 1 s/B}}")),
            "c.yaml:4:27: 'collectives.all-reduce': expected one cost, or a cost for each of some "
            "schemes, got both 'a' and 'tree'");
  EXPECT_EQ(failure(withCollectives("{all-reduce: {tree: {formula: ring}}}")),
            "c.yaml:4:44: 'collectives.all-reduce.tree.formula': expected the formula 'tree', got "
            "'ring'");
  EXPECT_EQ(failure(withCollectives("{all-reduce: {tree: {}}}")),
            "c.yaml:4:34: 'collectives.all-reduce.tree': expected exactly one of 'formula', 'a' "
            "with 'b', or 'table'");
  EXPECT_EQ(failure(withCollectives("{all-reduce: {hierarchical: {formula: ring}}}")),
            "c.yaml:4:52: 'collectives.all-reduce.hierarchical.formula': expected 'a' with 'b', or "
            "'table': no formula says what this costs");
  EXPECT_EQ(failure(withCollectives("{all-reduce: {library: {formula: ring}}}")),
            "c.yaml:4:47: 'collectives.all-reduce.library.formula': expected 'a' with 'b', or "
            "'table': no formula says what this costs");
}

// Keys and formulas that do not belong where they stand are refused, with what does.
TEST(ClusterCollectives, WrongPlaces) {
  EXPECT_EQ(failure(withCollectives("{all-reduce: {trie: {formula: tree}}}")),
            "c.yaml:4:28: 'collectives.all-reduce': unknown key 'trie', did you mean 'tree'?");
  EXPECT_EQ(failure(withCollectives("{all-gahter: {a: 1s, b: 0 s/B}}")),
            "c.yaml:4:15: 'collectives': unknown key 'all-gahter', did you mean 'all-gather'?");
  EXPECT_EQ(failure(withCollectives("{parameter-server: {tree: {a: 1s, b: 0 s/B}}}")),
            "c.yaml:4:34: 'collectives.parameter-server': unknown key 'tree', expected one of "
            "'formula', 'alpha', 'beta', 'gamma', 'a', 'b', 'table', 'interference'");
  EXPECT_EQ(failure(withCollectives("{all-reduce: {formula: reduce-scatter}}")),
            "c.yaml:4:37: 'collectives.all-reduce.formula': unknown formula 'reduce-scatter', "
            "expected one of 'ring', 'recursive-doubling', 'halving-doubling', 'tree'");
  EXPECT_EQ(failure(withCollectives("{reduce-scatter: {formula: ring}}")),
            "c.yaml:4:41: 'collectives.reduce-scatter.formula': expected the formula "
            "'reduce-scatter', got 'ring'");
  EXPECT_NE(failure(withCollectives("{all-gather: {formula: ring}}")).find("no formula says"),
            std::string::npos);
  EXPECT_NE(failure(withCollectives("{all-reduce: 5ms}")).find("expected a map with the keys"),
            std::string::npos);
}

} // namespace
} // namespace syncline::files

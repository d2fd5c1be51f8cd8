// Cost attributes as functions of bytes.
#include "passes/cost/CollectiveTime.h"
#include "passes/problem/SchemeCost.h"
#include "tests/unit/cost/Parsed.h"

#include <gtest/gtest.h>

#include <limits>

namespace syncline::cost {
namespace {

double seconds(llvm::StringRef text, std::int64_t bytes) {
  Parsed parsed("");
  const auto cost = collectiveTime(parsed.attr(text));
  EXPECT_TRUE(cost) << cost.status().message();
  return cost ? (*cost)->seconds(bytes) : -1;
}

// A line is a + b·n.
TEST(CollectiveTime, Affine) {
  EXPECT_DOUBLE_EQ(seconds("#cluster.affine<a = 2.0, b = 0.5>", 10), 7);
}

// Each algorithm is its formula of passes/problem/README.md, here for P = 4.
TEST(CollectiveTime, Formulas) {
  auto formula = [](const std::string &algorithm) {
    return seconds("#cluster.formula<algorithm = " + algorithm +
                       ", ranks = 4, alpha = 1.0, beta = 2.0, gamma = 3.0>",
                   8);
  };
  EXPECT_DOUBLE_EQ(formula("ring"), 2 * 3 * 1 + 2 * 0.75 * 8 * 2 + 0.75 * 8 * 3);
  EXPECT_DOUBLE_EQ(formula("\"recursive-doubling\""), 2 * 1 + 2 * 8 * (2 + 3));
  EXPECT_DOUBLE_EQ(formula("\"halving-doubling\""), 2 * 2 * 1 + 8 * 7 - 8 * 7 / 4.0);
  EXPECT_DOUBLE_EQ(formula("tree"), (2 + 3) * 1 + 8 * (6 * 2 + 3 * 3)); // one tree, one piece
  EXPECT_DOUBLE_EQ(formula("\"reduce-scatter\""), 2 * 3 * 1 + 0.75 * 8 * 7);
}

// A table is linear between its points.
TEST(CollectiveTime, Table) {
  constexpr llvm::StringLiteral table = "#cluster.table<[10, 1.0], [20, 3.0]>";
  EXPECT_EQ(seconds(table, 1), 1);
  EXPECT_EQ(seconds(table, 15), 2);
  EXPECT_EQ(seconds(table, 30), 5);
}

std::string textOf(mlir::Attribute attr) {
  std::string result;
  llvm::raw_string_ostream(result) << attr;
  return result;
}

/// The cost of `text`, made an attribute again with so much more for every byte.
std::string again(llvm::StringRef text, double secondsPerByte = 0) {
  Parsed parsed("");
  const auto cost = *collectiveTime(parsed.attr(text));
  return textOf(costAttr(&parsed.context, *problem::withExtraPerByte(*cost, secondsPerByte)));
}

// A line becomes a line; a formula is one.
TEST(CostAttr, Line) {
  EXPECT_EQ(again("#cluster.affine<a = 2.0, b = 0.5>"), "#cluster.affine<a = 2.0, b = 0.5>");
  EXPECT_EQ(again("#cluster.affine<a = 2.0, b = 0.5>", 0.25), "#cluster.affine<a = 2.0, b = 0.75>");
}

// Pieces keep every value: bends, jumps of one byte, falls, and the slope beyond the last point.
TEST(CostAttr, Pieces) {
  for (llvm::StringRef text :
       {"#cluster.table<[10, 1.0], [20, 3.0]>", "#cluster.table<[10, 1.0], [11, 8.0], [20, 9.0]>",
        "#cluster.table<[0, 5.0], [10, 1.0], [20, 1.0]>", "#cluster.table<[7, 2.0]>",
        "#cluster.table<[1, 1.0], [1000000, 3.0], [3000000, 11.0]>"})
    for (const double extra : {0.0, 0.125}) {
      const std::string written = again(text, extra);
      for (std::int64_t bytes :
           {0, 1, 2, 7, 9, 10, 11, 12, 15, 20, 30, 999999, 1000000, 2000000, 3000000, 123456789})
        EXPECT_NEAR(seconds(written, bytes),
                    seconds(text, bytes) + extra * static_cast<double>(bytes),
                    1e-9 * (1 + seconds(written, bytes)))
            << text.str() << " as " << written << " at " << bytes;
    }
}

// What a cluster file or a plan states is written as it was read: to the last digit, and a formula
// as a formula.
TEST(CostAttr, KeepsItsForm) {
  Parsed parsed("");
  for (llvm::StringRef text :
       {"#cluster.affine<a = 9.0800000000000004E-4, b = 7.4000000000000003E-10>",
        "#cluster.formula<algorithm = tree, ranks = 8, alpha = 5.0E-5, beta = 8.0E-10, gamma = "
        "1.0E-10>",
        "#cluster.table<[10, 1.0], [11, 8.0], [20, 3.0]>", "#cluster.table<[7, 2.0]>"}) {
    const mlir::Attribute attr = parsed.attr(text);
    ASSERT_TRUE(attr) << parsed.error;
    EXPECT_EQ(costAttr(&parsed.context, **collectiveTime(attr)), attr) << text.str();
  }
}

// Near the most bytes that there are the last piece is as long as it can be.
TEST(CostAttr, LargestSizes) {
  constexpr llvm::StringLiteral falling = "#cluster.table<[0, 2.0], [4611686018427387909, 1.0]>";
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_NEAR(seconds(again(falling, 1e-18), most), 1 + 1e-18 * static_cast<double>(most), 1e-9);
}

// Another attribute is no cost.
TEST(CollectiveTime, OtherAttribute) {
  Parsed parsed("");
  EXPECT_EQ(collectiveTime(parsed.attr("3 : i64")).status().message(),
            "expected #cluster.formula, #cluster.affine or #cluster.table, got 3 : i64");
  EXPECT_FALSE(collectiveTime({}));
}

} // namespace
} // namespace syncline::cost

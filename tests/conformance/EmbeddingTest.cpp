// Rows of a table by their numbers.
#include "tests/conformance/StepCase.h"

#include <cmath>

namespace syncline::conformance {
namespace {

class EmbeddingTest : public testing::TestWithParam<Backend> {};

Array idsOf(const Shape &shape, const std::vector<double> &values) {
  Array ids(shape);
  ids.values = values;
  return ids;
}

/// The rows of a table [rows, width] as the definition takes them; every id is known.
Array rowsOf(const Array &table, const Array &ids) {
  Shape shape = ids.shape;
  shape.push_back(table.shape[1]);
  Array y(shape);
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const auto id = static_cast<std::int64_t>(ids.values[i / table.shape[1]]);
    y.values[i] = table[{id < 0 ? id + table.shape[0] : id, i % table.shape[1]}];
  }
  return y;
}

// Rows taken several times, from the end, and one that nobody takes.
TEST_P(EmbeddingTest, TakesRowsAndAddsUpTheirGradients) {
  const Array table = randomArray({5, 3}, 1), ids = idsOf({2, 4}, {0, 4, 4, 1, -1, 0, 4, -5});
  const Array dy = randomArray({2, 4, 3}, 2);
  StepCase run(GetParam());
  const auto [weights, gradient] = run.parameter("table", table);
  const Tensor numbers = run.plainOperand(ids, ElementType::i64), y = run.result(dy.shape);
  run.step().embedding("em", numbers, weights, y);
  run.step().embeddingBackward("em", numbers, run.operand(dy), gradient);
  run.run();
  expectNear(run, y, rowsOf(table, ids));
  expectNear(run, gradient,
             numericalGradient([&](const Array &at) { return rowsOf(at, ids); }, table, dy));
}

// A frequent word: the sum of a thousand rows is right to the last bits.
TEST_P(EmbeddingTest, AddsUpManyRowsInDouble) {
  const std::int64_t count = 1000;
  Array dy({count, 2}, 0.1f), expected({3, 2});
  expected[{1, 0}] = expected[{1, 1}] = static_cast<double>(count) * 0.1f;
  StepCase run(GetParam());
  const auto [weights, gradient] = run.parameter("table", Array({3, 2}));
  const Tensor numbers = run.plainOperand(Array({count}, 1.0), ElementType::i64);
  run.step().embeddingBackward("em", numbers, run.operand(dy), gradient);
  run.run();
  expectNear(run, gradient, expected, 1e-7);
}

TEST_P(EmbeddingTest, OfUnknownRowsIsNotANumber) {
  const Array table = randomArray({3, 2}, 1), ids = idsOf({4}, {2, 3, -4, 0});
  StepCase run(GetParam());
  const auto [weights, gradient] = run.parameter("table", table);
  const Tensor numbers = run.plainOperand(ids, ElementType::i64), y = run.result({4, 2});
  run.step().embedding("em", numbers, weights, y);
  run.step().embeddingBackward("em", numbers, run.operand(Array({4, 2}, 1.0)), gradient);
  run.run();
  const Array rows = run.values(y);
  for (std::int64_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(std::isnan(rows.values[i]), i / 2 == 1 || i / 2 == 2) << i;
  Array expected({3, 2}, 1.0);
  expected[{1, 0}] = expected[{1, 1}] = 0;
  expectNear(run, gradient, expected);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, EmbeddingTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance

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
  run.step().embeddingBackward("em", numbers, run.operand(dy), none, gradient);
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
  run.step().embeddingBackward("em", numbers, run.operand(dy), none, gradient);
  run.run();
  expectNear(run, gradient, expected, 1e-7);
}

// Rows that are added onto another gradient: where that stands in the result's place, and where it
// stands elsewhere and is kept.
TEST_P(EmbeddingTest, AddsRowsOntoAnotherGradient) {
  const Array ids = idsOf({2, 3}, {4, 1, -1, 1, 7, -9}), dy = randomArray({2, 3, 3}, 1);
  const Array below = randomArray({5, 3}, 2);
  Array expected = below;
  for (std::int64_t i = 0; i < dy.size(); ++i)
    if (const auto id = static_cast<std::int64_t>(ids.values[i / 3]); id >= -5 && id < 5)
      expected[{id < 0 ? id + 5 : id, i % 3}] += dy.values[i];
  for (const bool isInPlace : {true, false}) {
    StepCase run(GetParam());
    const Tensor gradient = run.parameter("table", Array({5, 3})).second;
    const Tensor onto = isInPlace ? gradient : run.result({5, 3});
    const Tensor numbers = run.plainOperand(ids, ElementType::i64), rows = run.operand(dy);
    run.step().reshape("head", run.operand(below), onto);
    run.step().embeddingBackward("em", numbers, rows, onto, gradient);
    run.run();
    expectNear(run, gradient, expected);
    if (!isInPlace)
      expectNear(run, onto, below, 0);
  }
}

// The sum is rounded once: 1 and a thousand times 2^-25 rounds to more than 1, as in double.
TEST_P(EmbeddingTest, AddsRowsOntoAnotherGradientInDouble) {
  const std::int64_t count = 1000;
  const double small = std::ldexp(1.0, -25);
  Array expected({3, 2}, 1.0);
  expected[{1, 0}] = expected[{1, 1}] = 1 + static_cast<double>(count) * small;
  StepCase run(GetParam());
  const Tensor gradient = run.parameter("table", Array({3, 2})).second;
  const Tensor numbers = run.plainOperand(Array({count}, 1.0), ElementType::i64);
  run.step().reshape("head", run.operand(Array({3, 2}, 1.0)), gradient);
  run.step().embeddingBackward("em", numbers, run.operand(Array({count, 2}, small)), gradient,
                               gradient);
  run.run();
  expectNear(run, gradient, expected, 1e-7);
}

TEST_P(EmbeddingTest, OfUnknownRowsIsNotANumber) {
  const Array table = randomArray({3, 2}, 1), ids = idsOf({4}, {2, 3, -4, 0});
  StepCase run(GetParam());
  const auto [weights, gradient] = run.parameter("table", table);
  const Tensor numbers = run.plainOperand(ids, ElementType::i64), y = run.result({4, 2});
  run.step().embedding("em", numbers, weights, y);
  run.step().embeddingBackward("em", numbers, run.operand(Array({4, 2}, 1.0)), none, gradient);
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

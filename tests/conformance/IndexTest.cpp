// Entries by their numbers, taken and put back, and the largest elements of rows.
#include "runtime/core/OperandChecks.h"
#include "syncline/ScatterKind.h"
#include "tests/conformance/StepCase.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace syncline::conformance {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A whole tensor [shared, free, rows, width] and indices [shared, count].
struct Sizes {
  std::int64_t shared, free, rows, width, count;

  Shape whole() const { return {shared, free, rows, width}; }
  Shape entries() const { return {shared, free, count, width}; }
};

Array indicesOf(const Sizes &of, std::uint64_t seed) {
  Array indices = randomArray({of.shared, of.count}, seed);
  for (double &value : indices.values) // from -rows to rows - 1, of which most repeat
    value = std::floor((value + 1) * static_cast<double>(of.rows)) - static_cast<double>(of.rows);
  return indices;
}

/// Calls visit(entry, place, exists) with the offsets of every entry and of what it names.
template <typename Visit> void forEachEntry(const Sizes &of, const Array &indices, Visit visit) {
  for (std::int64_t e = 0; e < of.shared * of.free * of.count * of.width; ++e) {
    const std::int64_t k = e % of.width, i = e / of.width % of.count;
    const std::int64_t block = e / of.width / of.count;
    auto row = static_cast<std::int64_t>(indices.values[block / of.free * of.count + i]);
    row = row < 0 ? row + of.rows : row;
    visit(e, (block * of.rows + row) * of.width + k, row >= 0 && row < of.rows);
  }
}

double combined(ScatterKind kind, double a, double b) {
  switch (kind) {
  case ScatterKind::add:
    return a + b;
  case ScatterKind::replace:
    return b;
  case ScatterKind::multiply:
    return a * b;
  case ScatterKind::maximum:
    return std::max(a, b);
  case ScatterKind::minimum:
    return std::min(a, b);
  }
  return nan;
}

class IndexTest : public testing::TestWithParam<std::tuple<Backend, ElementType>> {
protected:
  const Backend &backend() const { return std::get<0>(GetParam()); }
  ElementType type() const { return std::get<1>(GetParam()); }

  void gathers(const Sizes &of);
  void scatters(const Sizes &of, ScatterKind kind, bool hasOnto);
};

void IndexTest::gathers(const Sizes &of) {
  const Array x = randomArray(of.whole(), 1), indices = indicesOf(of, 2);
  Array expected(of.entries());
  forEachEntry(of, indices,
               [&](auto e, auto place, bool) { expected.values[e] = x.values[place]; });
  StepCase run(backend());
  const Tensor y = run.result(of.entries());
  run.step().gatherRows("g", run.operand(x), run.plainOperand(indices, type()), y, 2, 1);
  run.run();
  expectNear(run, y, expected, 0);
}

void IndexTest::scatters(const Sizes &of, ScatterKind kind, bool hasOnto) {
  const Array updates = randomArray(of.entries(), 3), indices = indicesOf(of, 4);
  const Array onto = hasOnto ? randomArray(of.whole(), 5) : Array(of.whole());
  Array expected = onto;
  forEachEntry(of, indices, [&](auto e, auto place, bool) {
    expected.values[place] = combined(kind, expected.values[place], updates.values[e]);
  });
  StepCase run(backend());
  const Tensor y = run.result(of.whole());
  run.step().scatterRows("s", run.operand(updates), run.plainOperand(indices, type()),
                         hasOnto ? run.operand(onto) : none, y, 2, 1, static_cast<int>(kind));
  run.run();
  expectNear(run, y, expected);
}

TEST_P(IndexTest, GathersEntries) {
  gathers({1, 1, 5, 1, 7});
  gathers({1, 3, 4, 2, 6}); // along an axis
  gathers({6, 1, 5, 1, 3}); // elements of rows
  gathers({2, 3, 4, 5, 2});
  gathers({3, 1, 9, 1500, 20}); // in parallel
}

TEST_P(IndexTest, ScattersByEveryKind) {
  for (const auto kind : {ScatterKind::add, ScatterKind::replace, ScatterKind::multiply,
                          ScatterKind::maximum, ScatterKind::minimum})
    for (const Sizes &of : {Sizes{1, 1, 5, 1, 7}, Sizes{1, 3, 4, 2, 6}, Sizes{6, 1, 5, 1, 3},
                            Sizes{2, 3, 4, 5, 2}, Sizes{3, 1, 9, 1500, 20}}) {
      scatters(of, kind, /*hasOnto=*/true);
      scatters(of, kind, /*hasOnto=*/false);
    }
}

// Beyond both ends of 3 entries; others with other leading dimensions are not touched.
TEST_P(IndexTest, ByUnknownNumbersIsNotANumber) {
  Array indices({2, 4});
  indices.values = {2, -3, 0, 1, 3, 0, -4, 1};
  StepCase run(backend());
  const Tensor numbers = run.plainOperand(indices, type());
  const Tensor y = run.result({2, 4}), z = run.result({2, 3});
  const Array x = randomArray({2, 3}, 1), updates = randomArray({2, 4}, 2);
  run.step().gatherRows("g", run.operand(x), numbers, y, 1, 1);
  run.step().scatterRows("s", run.operand(updates), numbers, run.operand(x), z, 1, 1, 0);
  run.run();
  const Array taken = run.values(y), put = run.values(z);
  for (std::int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(std::isnan(taken.values[i]), i == 4 || i == 6) << i;
  for (std::int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::isnan(put.values[i]), i >= 3) << i;
}

// The sum is rounded once, and the last of several updates stays.
TEST_P(IndexTest, CombinesUpdatesInTheirOrder) {
  const std::int64_t count = 1000;
  Array updates({count}, std::ldexp(1.0, -25)), numbered({count});
  for (std::int64_t i = 0; i < count; ++i)
    numbered.values[i] = static_cast<double>(i);
  StepCase run(backend());
  const Tensor numbers = run.plainOperand(Array({count}, 1.0), type());
  const Tensor sum = run.result({3}), last = run.result({3});
  run.step().scatterRows("s", run.operand(updates), numbers, run.operand(Array({3}, 1.0)), sum, 0,
                         0, 0);
  run.step().scatterRows("s", run.operand(numbered), numbers, none, last, 0, 0, 1);
  run.run();
  EXPECT_NEAR(run.values(sum).values[1], 1 + static_cast<double>(count) * std::ldexp(1.0, -25),
              1e-7);
  EXPECT_EQ(run.values(last).values, (std::vector<double>{0, count - 1, 0}));
}

INSTANTIATE_TEST_SUITE_P(AllBackends, IndexTest,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::Values(ElementType::i64, ElementType::f32)),
                         [](const auto &info) {
                           return std::get<0>(info.param).name + "_" +
                                  std::string(elementName(std::get<1>(info.param)));
                         });

class TopKTest : public testing::TestWithParam<Backend> {
protected:
  void takes(const Array &x, std::int64_t count, bool largest);
};

void TopKTest::takes(const Array &x, std::int64_t count, bool largest) {
  const std::int64_t size = x.shape.back(), rows = x.size() / size;
  Shape shape = x.shape;
  shape.back() = count;
  Array values(shape), indices(shape);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<std::pair<double, std::int64_t>> order; // a key that is sorted upwards
    for (std::int64_t i = 0; i < size; ++i) {
      const double value = x.values[row * size + i];
      const double key = std::isnan(value) ? HUGE_VAL : std::clamp(value, -1e300, 1e300);
      order.emplace_back(largest ? -key : key, i);
    }
    std::stable_sort(order.begin(), order.end());
    for (std::int64_t i = 0; i < count; ++i) {
      values.values[row * count + i] = x.values[row * size + order[i].second];
      indices.values[row * count + i] = static_cast<double>(order[i].second);
    }
  }
  StepCase run(GetParam());
  const Tensor best = run.result(shape), places = run.result(shape);
  run.step().topK("t", run.operand(x), best, places, largest);
  run.run();
  EXPECT_EQ(run.values(places).values, indices.values);
  const Array taken = run.values(best);
  for (std::int64_t i = 0; i < taken.size(); ++i)
    if (!std::isnan(values.values[i]))
      EXPECT_EQ(taken.values[i], static_cast<float>(values.values[i])) << i;
    else
      EXPECT_TRUE(std::isnan(taken.values[i])) << i;
}

TEST_P(TopKTest, SortsRows) {
  for (const bool largest : {true, false}) {
    takes(randomArray({7}, 1), 3, largest);
    takes(randomArray({3, 5}, 2), 1, largest);
    takes(randomArray({2, 3, 8}, 3), 8, largest);
    takes(randomArray({4, 9000}, 4), 5, largest);
  }
}

// The first of equal elements comes first; zeros of both signs are equal.
TEST_P(TopKTest, OfEqualElementsTakesTheFirst) {
  Array x({2, 6});
  x.values = {1, 2, 2, 1, 2, 1, 0.0, -0.0, 0.0, -1, -0.0, -1};
  for (const bool largest : {true, false})
    for (const std::int64_t count : {1, 2, 4, 6})
      takes(x, count, largest);
}

// NaN is larger than infinity, as in PyTorch.
TEST_P(TopKTest, NotANumberIsLargest) {
  const double infinity = std::numeric_limits<double>::infinity();
  Array x({1, 6});
  x.values = {1, nan, infinity, nan, -infinity, 0};
  for (const bool largest : {true, false})
    for (const std::int64_t count : {1, 3, 6})
      takes(x, count, largest);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, TopKTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance

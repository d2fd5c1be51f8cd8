// Pooling forward and backward against the definition.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"
#include "tests/conformance/Suites.h"

#include <algorithm>

namespace syncline::conformance {
namespace {

struct PoolShape {
  const char *name;
  Shape x, y;
  Window window;
};

void PrintTo(const PoolShape &shape, std::ostream *stream) { *stream << shape.name; }

Window window(Shape kernel, Shape strides, Shape begins, Shape ends, Shape dilations) {
  return {std::move(kernel), std::move(strides), std::move(dilations), std::move(begins),
          std::move(ends)};
}

std::vector<PoolShape> poolShapes() {
  return {
      {"twoByTwo", {2, 16, 6, 6}, {2, 16, 3, 3}, window({2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1})},
      {"overlapping", {1, 16, 7, 7}, {1, 16, 4, 4}, window({3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1})},
      {"unevenPads", {1, 5, 5, 6}, {1, 5, 3, 3}, window({3, 3}, {2, 2}, {1, 0}, {1, 1}, {1, 1})},
      {"roundsUp", {1, 16, 6, 6}, {1, 16, 3, 3}, window({3, 3}, {2, 2}, {0, 0}, {0, 0}, {1, 1})},
      {"global", {2, 19, 7, 7}, {2, 19, 1, 1}, window({7, 7}, {1, 1}, {0, 0}, {0, 0}, {1, 1})},
      {"dilated", {1, 16, 7, 7}, {1, 16, 3, 3}, window({3, 3}, {1, 1}, {0, 0}, {0, 0}, {2, 2})},
      {"largeWindow",
       {1, 3, 17, 17},
       {1, 3, 1, 1},
       window({17, 17}, {1, 1}, {0, 0}, {0, 0}, {1, 1})},
      {"oneDimension", {2, 16, 8}, {2, 16, 4}, window({2}, {2}, {0}, {0}, {1})},
      {"threeDimensions",
       {1, 3, 4, 4, 4},
       {1, 3, 2, 2, 2},
       window({2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1})},
  };
}

/// No two values of a plane are equal, all are exact in bf16: the largest one of a window is where
/// it is, whatever the backend rounds. For planes of at most 512 positions.
Array distinctArray(const Shape &shape) {
  Array array = randomArray(shape, 1);
  const std::int64_t planes = shape[0] * shape[1], positions = array.size() / planes;
  std::vector<std::pair<double, std::int64_t>> order(static_cast<std::size_t>(positions));
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    double *values = array.values.data() + plane * positions;
    for (std::int64_t i = 0; i < positions; ++i)
      order[static_cast<std::size_t>(i)] = {values[i], i};
    std::sort(order.begin(), order.end());
    for (std::int64_t k = 0; k < positions; ++k)
      values[order[static_cast<std::size_t>(k)].second] =
          static_cast<double>(k - positions / 2) / 64;
  }
  return array;
}

class PoolingTest : public testing::TestWithParam<std::tuple<Backend, PoolShape, Form>> {
protected:
  const Backend &backend() const { return std::get<0>(GetParam()); }
  const PoolShape &shape() const { return std::get<1>(GetParam()); }
  Form form() const { return std::get<2>(GetParam()); }

  void maximum(ElementType workspaceType);
  void averages(bool countsPadding);

  Array x = distinctArray(std::get<1>(GetParam()).x);
  Array dy = randomArray(std::get<1>(GetParam()).y, 2);
};

void PoolingTest::maximum(ElementType workspaceType) {
  StepCase run(backend(), form());
  const Tensor y = run.result(dy.shape), dx = run.result(x.shape);
  const Tensor workspace = run.result(dy.shape, workspaceType);
  run.step().maxPool("pool", run.operand(x), y, workspace, shape().window);
  run.step().maxPoolBackward("pool", run.operand(dy), workspace, dx, shape().window);
  run.run();
  auto forward = [&](const Array &at) {
    return referencePool(Pool::maximum, at, shape().window, dy.shape);
  };
  expectNear(run, y, forward(x), 0);
  expectNear(run, dx, numericalGradient(forward, x, dy, 1e-9));
}

TEST_P(PoolingTest, MaximumAndItsBackward) {
  maximum(ElementType::i32);
  if (core::elementCount(shape().window.kernel) <= 255)
    maximum(ElementType::u8);
}

void PoolingTest::averages(bool countsPadding) {
  StepCase run(backend(), form());
  Window window = shape().window;
  window.countIncludePad = countsPadding;
  const Tensor y = run.result(dy.shape), dx = run.result(x.shape);
  run.step().averagePool("pool", run.operand(x), y, window);
  run.step().averagePoolBackward("pool", run.operand(dy), dx, window);
  run.run();
  auto forward = [&](const Array &at) {
    return referencePool(countsPadding ? Pool::averageAll : Pool::averageInside, at, window,
                         dy.shape);
  };
  expectNear(run, y, forward(x));
  expectNear(run, dx, numericalGradient(forward, x, dy, 0.5));
}

TEST_P(PoolingTest, AverageOfWhatIsInside) { averages(false); }
TEST_P(PoolingTest, AverageThatCountsPadding) { averages(true); }

class LargeWindowTest : public testing::TestWithParam<std::tuple<Backend, Form>> {};

/// One float that adds up 12,544 values loses a digit or two.
TEST_P(LargeWindowTest, MeanLosesNothing) {
  const auto &[backend, form] = GetParam();
  Array x = randomArray({2, 20, 112, 112}, 7);
  for (double &value : x.values)
    value = static_cast<float>(value * value); // as behind a ReLU, nothing cancels
  const Window whole = window({112, 112}, {1, 1}, {0, 0}, {0, 0}, {1, 1});
  StepCase run(backend, form);
  const Tensor y = run.result({2, 20, 1, 1});
  run.step().averagePool("pool", run.operand(x), y, whole);
  run.run();
  expectNear(run, y, referencePool(Pool::averageAll, x, whole, {2, 20, 1, 1}), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, LargeWindowTest, inBothForms(), caseName);

INSTANTIATE_TEST_SUITE_P(AllBackends, PoolingTest, inBothForms(testing::ValuesIn(poolShapes())),
                         caseName);

} // namespace
} // namespace syncline::conformance

// Concat, slice, pad, transpose and reshape: exact, in every layout.
#include "tests/conformance/StepCase.h"
#include "tests/conformance/Suites.h"

namespace syncline::conformance {
namespace {

class DataMovementTest : public testing::TestWithParam<std::tuple<Backend, Form>> {
protected:
  const Backend &backend() const { return std::get<0>(GetParam()); }
  Form form() const { return std::get<1>(GetParam()); }

  /// concat of the parts along the axis.
  void concats(const std::vector<Shape> &parts, std::int64_t axis);
  void slices(const Shape &shape, const Shape &starts, const Shape &steps, const Shape &extents);
  void pads(const Shape &shape, const Shape &begins, const Shape &extents, double value);
};

void DataMovementTest::concats(const std::vector<Shape> &parts, std::int64_t axis) {
  StepCase run(backend(), form());
  Shape whole = parts[0];
  whole[axis] = 0;
  std::vector<Tensor> xs;
  std::vector<Array> values;
  for (const Shape &part : parts) {
    values.push_back(randomArray(part, xs.size()));
    xs.push_back(run.operand(values.back()));
    whole[axis] += part[axis];
  }
  const Tensor y = run.result(whole);
  run.step().concat("concat", xs, y, axis);
  run.run();
  Array expected(whole);
  std::int64_t begin = 0;
  for (const Array &part : values) {
    forEachIndex(part.shape, [&](const Shape &at) {
      Shape to = at;
      to[axis] += begin;
      expected[to] = part[at];
    });
    begin += part.shape[axis];
  }
  expectNear(run, y, expected, 0);
}

TEST_P(DataMovementTest, ConcatOfWholeBlocksOfChannels) {
  concats({{2, 16, 3, 3}, {2, 32, 3, 3}}, 1);
}
TEST_P(DataMovementTest, ConcatOfOddChannels) {
  concats({{2, 5, 3, 3}, {2, 16, 3, 3}, {2, 3, 3, 3}}, 1);
}
TEST_P(DataMovementTest, ConcatThatEndsOdd) { concats({{2, 16, 3, 3}, {2, 24, 3, 3}}, 1); }
TEST_P(DataMovementTest, ConcatAlongOtherAxes) {
  concats({{2, 16, 3, 3}, {1, 16, 3, 3}}, 0);
  concats({{1, 24, 3, 3}, {1, 24, 3, 2}}, 3);
  concats({{3, 2}, {3, 4}}, 1);
}

void DataMovementTest::slices(const Shape &shape, const Shape &starts, const Shape &steps,
                              const Shape &extents) {
  StepCase run(backend(), form());
  const Array x = randomArray(shape, 1), dy = randomArray(extents, 2);
  const Tensor y = run.result(extents), dx = run.result(shape);
  run.step().slice("slice", run.operand(x), y, starts, steps);
  run.step().sliceBackward("slice", run.operand(dy), dx, starts, steps);
  run.run();
  Array part(extents), whole(shape);
  forEachIndex(extents, [&](const Shape &at) {
    Shape from = at;
    for (std::size_t i = 0; i < from.size(); ++i)
      from[i] = starts[i] + at[i] * steps[i];
    part[at] = x[from];
    whole[from] = dy[at];
  });
  expectNear(run, y, part, 0);
  expectNear(run, dx, whole, 0);
}

TEST_P(DataMovementTest, SliceAtBlockEdges) {
  slices({2, 48, 3, 3}, {0, 16, 0, 0}, {1, 1, 1, 1}, {2, 16, 3, 3});
}
TEST_P(DataMovementTest, SliceThroughBlocks) {
  slices({2, 24, 3, 3}, {0, 5, 1, 0}, {1, 1, 1, 1}, {2, 9, 2, 3});
}
TEST_P(DataMovementTest, SliceOfSamplesAndPositions) {
  slices({3, 20, 4, 4}, {1, 0, 1, 2}, {1, 1, 1, 1}, {2, 20, 3, 2});
}
TEST_P(DataMovementTest, SliceWithSteps) {
  slices({2, 8, 5, 6}, {0, 7, 0, 5}, {1, -2, 2, -1}, {2, 4, 3, 6});
}

void DataMovementTest::pads(const Shape &shape, const Shape &begins, const Shape &extents,
                            double value) {
  StepCase run(backend(), form());
  const Array x = randomArray(shape, 1);
  const Tensor y = run.result(extents);
  run.step().pad("pad", run.operand(x), y, begins, value);
  run.run();
  Array expected(extents, value);
  forEachIndex(shape, [&](const Shape &at) {
    Shape to = at;
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] += begins[i];
      if (to[i] < 0 || to[i] >= extents[i])
        return;
    }
    expected[to] = x[at];
  });
  expectNear(run, y, expected, 0);
}

TEST_P(DataMovementTest, PadsPositionsWithZeros) {
  pads({2, 20, 3, 3}, {0, 0, 1, 2}, {2, 20, 5, 6}, 0);
}
TEST_P(DataMovementTest, PadsChannels) { pads({2, 5, 3, 3}, {0, 3, 0, 0}, {2, 9, 3, 3}, 0); }
TEST_P(DataMovementTest, PadsWithAValueAndCrops) {
  pads({2, 16, 4, 4}, {0, 0, -1, 1}, {2, 16, 3, 6}, 1.5);
}

TEST_P(DataMovementTest, TransposeMovesEveryElement) {
  for (const Shape &permutation : {Shape{0, 2, 3, 1}, Shape{3, 2, 1, 0}, Shape{1, 0, 2, 3}}) {
    StepCase run(backend(), form());
    const Array x = randomArray({2, 5, 3, 4}, 1);
    Shape shape;
    for (std::int64_t from : permutation)
      shape.push_back(x.shape[from]);
    const Tensor y = run.result(shape);
    run.step().transpose("transpose", run.operand(x), y, permutation);
    run.run();
    Array expected(shape);
    forEachIndex(x.shape, [&](const Shape &at) {
      Shape to;
      for (std::int64_t from : permutation)
        to.push_back(at[from]);
      expected[to] = x[at];
    });
    expectNear(run, y, expected, 0);
  }
}

TEST_P(DataMovementTest, ReshapeKeepsRowMajorOrder) {
  for (const Shape &shape : {Shape{2, 45}, Shape{2, 5, 3, 3}, Shape{90}, Shape{6, 15, 1}}) {
    StepCase run(backend(), form());
    Array x = randomArray({2, 5, 3, 3}, 1);
    const Tensor y = run.result(shape);
    run.step().reshape("reshape", run.operand(x), y);
    run.run();
    x.shape = shape;
    expectNear(run, y, x, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(AllBackends, DataMovementTest, inBothForms(), caseName);

} // namespace
} // namespace syncline::conformance

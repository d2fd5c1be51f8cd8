// Resizing forward and backward against the definition.
#include "tests/conformance/StepCase.h"
#include "tests/conformance/Suites.h"

#include "syncline/ResampleFilter.h"

#include <algorithm>
#include <cmath>

namespace syncline::conformance {
namespace {

using Filter = ResampleFilter;

struct ResampleShape {
  const char *name;
  Shape x, y, axes, coordinates;
  Filter filter;
  double cubicCoefficient = 0;
  bool excludesOutside = false, antialias = false;
};

void PrintTo(const ResampleShape &shape, std::ostream *stream) { *stream << shape.name; }

using Coordinates = Shape (*)(std::int64_t from, std::int64_t to);

Shape halfPixel(std::int64_t from, std::int64_t to) { return {2 * from, from - to, 2 * to}; }
Shape asymmetric(std::int64_t from, std::int64_t to) { return {from, 0, to}; }
Shape alignedCorners(std::int64_t from, std::int64_t to) {
  return to == 1 ? Shape{0, 0, 1} : Shape{from - 1, 0, to - 1};
}

/// A case that resizes the dimensions in which x and y differ.
ResampleShape of(const char *name, const Shape &x, const Shape &y, Coordinates coordinates,
                 Filter filter) {
  ResampleShape shape{name, x, y, {}, {}, filter};
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i]) {
      const Shape abc = coordinates(x[i], y[i]);
      shape.axes.push_back(static_cast<std::int64_t>(i));
      shape.coordinates.insert(shape.coordinates.end(), abc.begin(), abc.end());
    }
  return shape;
}

ResampleShape cubic(ResampleShape shape, double coefficient, bool excludesOutside = false) {
  shape.filter = Filter::cubic;
  shape.cubicCoefficient = coefficient;
  shape.excludesOutside = excludesOutside;
  return shape;
}

ResampleShape antialiased(ResampleShape shape) {
  shape.antialias = true;
  return shape;
}

std::vector<ResampleShape> resampleShapes() {
  const Shape small{1, 3, 5, 4}, odd{1, 3, 7, 9}, image{2, 19, 6, 9};
  const Shape doubled{2, 19, 12, 18}, halved{2, 19, 3, 5};
  return {
      of("nearestDoubled", image, doubled, asymmetric, Filter::nearestFloor),
      of("nearestQuadrupled", image, {2, 19, 24, 36}, asymmetric, Filter::nearestFloor),
      of("nearestHalved", {2, 19, 8, 12}, {2, 19, 4, 6}, asymmetric, Filter::nearestFloor),
      of("nearestPreferFloor", small, odd, halfPixel, Filter::nearestPreferFloor),
      of("nearestPreferCeil", odd, small, alignedCorners, Filter::nearestPreferCeil),
      of("nearestFloor", odd, small, halfPixel, Filter::nearestFloor),
      of("nearestCeil", small, odd, halfPixel, Filter::nearestCeil),
      of("linearDoubled", image, doubled, halfPixel, Filter::linear),
      of("linearQuadrupled", image, {2, 19, 24, 36}, halfPixel, Filter::linear),
      of("linearEightfold", {1, 3, 4, 5}, {1, 3, 32, 40}, halfPixel, Filter::linear),
      of("linearHalved", {2, 19, 8, 12}, {2, 19, 4, 6}, halfPixel, Filter::linear),
      of("linearToOdd", image, halved, halfPixel, Filter::linear),
      of("cornersUp", image, {2, 19, 12, 17}, alignedCorners, Filter::linear),
      of("cornersDown", image, halved, alignedCorners, Filter::linear),
      of("onlyRows", image, {2, 19, 12, 9}, halfPixel, Filter::linear),
      of("onlyColumns", image, {2, 19, 6, 18}, halfPixel, Filter::linear),
      of("upAndDown", image, {2, 19, 12, 4}, halfPixel, Filter::linear),
      of("manyChannels", {1, 70, 3, 3}, {1, 70, 6, 6}, halfPixel, Filter::linear),
      cubic(of("cubicDoubled", image, doubled, halfPixel, Filter::cubic), -0.75),
      cubic(of("cubicToOdd", odd, small, alignedCorners, Filter::cubic), -0.5),
      cubic(of("cubicInside", small, odd, halfPixel, Filter::cubic), -0.75, true),
      antialiased(of("linearAntialias", odd, {1, 3, 3, 2}, halfPixel, Filter::linear)),
      antialiased(of("linearAntialiasUp", small, odd, halfPixel, Filter::linear)),
      antialiased(cubic(of("cubicAntialias", odd, {1, 3, 2, 4}, halfPixel, Filter::cubic), -0.5,
                        /*excludesOutside=*/true)),
      of("fromOneElement", {2, 19, 1, 1}, {2, 19, 6, 5}, halfPixel, Filter::linear),
      of("toOneElement", image, {2, 19, 1, 1}, halfPixel, Filter::linear),
      of("oneDimension", {2, 16, 8}, {2, 16, 16}, halfPixel, Filter::linear),
      of("threeDimensions", {1, 3, 4, 5, 3}, {1, 3, 8, 10, 6}, halfPixel, Filter::linear),
      of("threeToOdd", {1, 17, 4, 5, 3}, {1, 17, 3, 7, 2}, alignedCorners, Filter::linear),
      of("channels", image, {2, 7, 6, 9}, halfPixel, Filter::linear),
      of("channelsAndColumns", small, {1, 5, 5, 9}, halfPixel, Filter::linear),
      of("samples", small, {4, 3, 5, 4}, halfPixel, Filter::linear),
      of("vector", {9}, {5}, halfPixel, Filter::linear),
  };
}

/// The filter at a distance from its centre.
double filterAt(const ResampleShape &r, double distance) {
  const double d = std::abs(distance), a = r.cubicCoefficient;
  if (r.filter == Filter::linear)
    return std::max(1 - d, 0.0);
  if (d <= 1)
    return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

double nearestTo(Filter filter, double position) {
  if (filter == Filter::nearestPreferFloor)
    return std::ceil(position - 0.5);
  if (filter == Filter::nearestPreferCeil)
    return std::floor(position + 0.5);
  return filter == Filter::nearestCeil ? std::ceil(position) : std::floor(position);
}

/// The weights of x's elements along an axis in element i of y.
std::vector<double> weightsOf(const ResampleShape &r, std::size_t number, std::int64_t i) {
  const std::int64_t size = r.x[static_cast<std::size_t>(r.axes[number])];
  const auto last = static_cast<double>(size - 1);
  const auto a = static_cast<double>(r.coordinates[3 * number]);
  const auto b = static_cast<double>(r.coordinates[3 * number + 1]);
  const auto c = static_cast<double>(r.coordinates[3 * number + 2]);
  const double position = (a * static_cast<double>(i) + b) / c;
  std::vector<double> weights(static_cast<std::size_t>(size));
  const auto at = [&](double j) -> double & {
    return weights[static_cast<std::size_t>(std::clamp(j, 0.0, last))];
  };
  if (r.filter < Filter::linear) {
    at(nearestTo(r.filter, position)) = 1;
    return weights;
  }
  const double stretch = r.antialias ? std::max(a / c, 1.0) : 1;
  double sum = 0;
  for (double j = std::floor(position - 2 * stretch); j <= position + 2 * stretch; ++j) {
    if (r.excludesOutside && (j < 0 || j > last))
      continue;
    at(j) += filterAt(r, (j - position) / stretch);
    sum += filterAt(r, (j - position) / stretch);
  }
  for (double &weight : weights)
    weight /= r.excludesOutside || stretch != 1 ? sum : 1;
  return weights;
}

/// The array, resized along one axis or, with `isBackward`, a gradient on its way back.
Array along(const ResampleShape &r, std::size_t number, const Array &from, bool isBackward) {
  const auto axis = static_cast<std::size_t>(r.axes[number]);
  Shape shape = from.shape;
  shape[axis] = isBackward ? r.x[axis] : r.y[axis];
  Array to(shape);
  for (std::int64_t i = 0; i < r.y[axis]; ++i) {
    const std::vector<double> weights = weightsOf(r, number, i);
    Shape line = from.shape;
    line[axis] = 1;
    forEachIndex(line, [&](const Shape &index) {
      Shape atX = index, atY = index;
      atY[axis] = i;
      for (atX[axis] = 0; atX[axis] < r.x[axis]; ++atX[axis])
        to[isBackward ? atX : atY] +=
            weights[static_cast<std::size_t>(atX[axis])] * from[isBackward ? atY : atX];
    });
  }
  return to;
}

Array resized(const ResampleShape &r, Array from, bool isBackward) {
  for (std::size_t i = 0; i < r.axes.size(); ++i)
    from = along(r, i, from, isBackward);
  return from;
}

void appendForward(StepBuilder &step, const ResampleShape &r, Tensor x, Tensor y) {
  step.resample("resize", x, y, r.axes, r.coordinates, static_cast<std::int64_t>(r.filter),
                r.cubicCoefficient, r.excludesOutside, r.antialias);
}

void appendBackward(StepBuilder &step, const ResampleShape &r, Tensor dy, Tensor dx) {
  step.resampleBackward("resize", dy, dx, r.axes, r.coordinates,
                        static_cast<std::int64_t>(r.filter), r.cubicCoefficient, r.excludesOutside,
                        r.antialias);
}

class ResampleTest : public testing::TestWithParam<std::tuple<Backend, ResampleShape, Form>> {
protected:
  const ResampleShape &shape() const { return std::get<1>(GetParam()); }
};

TEST_P(ResampleTest, ForwardAndBackward) {
  const Array x = randomArray(shape().x, 1), dy = randomArray(shape().y, 2);
  StepCase run(std::get<0>(GetParam()), std::get<2>(GetParam()));
  const Tensor y = run.result(dy.shape), dx = run.result(x.shape);
  appendForward(run.step(), shape(), run.operand(x), y);
  appendBackward(run.step(), shape(), run.operand(dy), dx);
  run.run();
  expectNear(run, y, resized(shape(), x, /*isBackward=*/false), 1e-6);
  expectNear(run, dx, resized(shape(), dy, /*isBackward=*/true), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, ResampleTest,
                         inBothForms(testing::ValuesIn(resampleShapes())), caseName);

class ResampleLayoutTest : public testing::TestWithParam<Backend> {};

/// Images that a convolution leaves are resized in its layout.
TEST_P(ResampleLayoutTest, ConvertsNothing) {
  const ResampleShape r = of("", {2, 16, 4, 4}, {2, 16, 8, 8}, halfPixel, Filter::linear);
  StepCase run(GetParam(), Form::blocked);
  const Tensor y = run.result(r.y), dx = run.result(r.x);
  appendForward(run.step(), r, run.operand(randomArray(r.x, 1)), y);
  appendBackward(run.step(), r, y, dx);
  run.run();
  EXPECT_EQ(run.reorders("resample"), 0);
  EXPECT_EQ(run.reorders("resampleBackward"), 0);
}

/// The bits of a result depend on no other thread.
TEST_P(ResampleLayoutTest, ThreadsChangeNoBit) {
  const ResampleShape r = of("", {3, 5, 9, 7}, {3, 5, 13, 21}, halfPixel, Filter::linear);
  std::vector<Array> results;
  for (const int threads : {1, 3}) {
    StepCase run(GetParam(), Form::plain, 1, threads);
    const Tensor y = run.result(r.y), dx = run.result(r.x);
    appendForward(run.step(), r, run.operand(randomArray(r.x, 1)), y);
    appendBackward(run.step(), r, run.operand(randomArray(r.y, 2)), dx);
    run.run();
    results.push_back(run.values(y));
    results.push_back(run.values(dx));
  }
  EXPECT_EQ(results[0].values, results[2].values);
  EXPECT_EQ(results[1].values, results[3].values);
}

/// Operands that do not fit give an error while the step is built.
TEST_P(ResampleLayoutTest, MisfitsAreRefused) {
  const auto failure = [&](const ResampleShape &r) {
    StepCase run(GetParam());
    appendForward(run.step(), r, run.operand(randomArray(r.x, 1)), run.result(r.y));
    return run.failure();
  };
  ResampleShape right = of("", {2, 3, 4, 5}, {2, 3, 8, 5}, halfPixel, Filter::linear);
  ResampleShape wrong = right;
  wrong.y[1] = 4;
  EXPECT_NE(failure(wrong).find("expected"), std::string::npos) << failure(wrong);
  wrong = right;
  wrong.axes = {4};
  EXPECT_NE(failure(wrong), "");
  wrong = right;
  wrong.coordinates = {1, 0, 0};
  EXPECT_NE(failure(wrong).find("beyond the range"), std::string::npos) << failure(wrong);
  wrong = right;
  wrong.coordinates.pop_back();
  EXPECT_NE(failure(wrong).find("three coordinates"), std::string::npos) << failure(wrong);
  wrong = right;
  wrong.filter = static_cast<Filter>(6);
  EXPECT_NE(failure(wrong).find("filter"), std::string::npos) << failure(wrong);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, ResampleLayoutTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance

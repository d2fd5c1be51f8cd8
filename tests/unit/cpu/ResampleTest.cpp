// Resizing in every layout gives the same values, and a NaN stays where it has a weight.
#include "runtime/cpu/ResampleParts.h"

#include "runtime/core/HalfFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>

namespace syncline::cpu {
namespace {

using Tag = dnnl::memory::format_tag;

core::Resampling linearOf(const Shape &axes, const Shape &x, const Shape &y, bool alignsCorners) {
  core::Resampling r{axes, {}, ResampleFilter::linear, 0, false, false};
  for (const std::int64_t axis : axes) {
    const std::int64_t from = x[static_cast<std::size_t>(axis)];
    const std::int64_t to = y[static_cast<std::size_t>(axis)];
    const Shape abc =
        alignsCorners ? Shape{from - 1, 0, to - 1} : Shape{2 * from, from - to, 2 * to};
    r.coordinates.insert(r.coordinates.end(), abc.begin(), abc.end());
  }
  return r;
}

std::vector<float> randomValues(std::int64_t count) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> within(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float &value : values)
    value = within(random);
  return values;
}

/// The values in another layout, with zeroes as padding.
std::vector<float> inLayout(const std::vector<float> &plain, const Layout &layout) {
  std::vector<float> stored(layout.get_size() / sizeof(float));
  const Shape dims = layout.dims();
  Shape index(dims.size(), 0);
  for (const float value : plain) {
    stored[static_cast<std::size_t>(elementOffset(layout, index))] = value;
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d])
        break;
      index[d] = 0;
    }
  }
  return stored;
}

std::vector<float> resized(const Layout &layout, const core::Resampling &r, const Shape &y,
                           const std::vector<float> &values, bool isBackward = false) {
  const Shape x = layout.dims();
  std::vector<ResamplePass> passes;
  for (std::size_t i = 0; i < r.axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(r.axes[i]);
    passes.emplace_back(isBackward ? core::transposed(core::bandsOf(r, i, y[axis], x[axis]))
                                   : core::bandsOf(r, i, x[axis], y[axis]));
  }
  std::vector<float> result(likeLayout(layout, y)->get_size() / sizeof(float), NAN);
  Resizing(layout, r.axes, std::move(passes)).run(values.data(), result.data());
  return result;
}

/// Expects that all layouts of x agree with the plain one.
void expectAgreement(const Shape &x, const Shape &y, const core::Resampling &r,
                     std::initializer_list<Tag> tags) {
  const std::vector<float> values = randomValues(core::elementCount(x));
  const std::vector<float> plain = resized(plainLayout(x, DataType::f32), r, y, values);
  for (const Tag tag : tags) {
    const Layout layout(x, DataType::f32, tag);
    ASSERT_TRUE(keepsLayout(layout, r.axes));
    const std::vector<float> own = resized(layout, r, y, inLayout(values, layout));
    const std::vector<float> wanted = inLayout(plain, Layout(y, DataType::f32, tag));
    ASSERT_EQ(own.size(), wanted.size());
    for (std::size_t i = 0; i < own.size(); ++i)
      ASSERT_NEAR(own[i], wanted[i], 1e-6) << x[1] << " channels, tag " << static_cast<int>(tag);
  }
}

/// The image, resized along one dimension and then the other, in the order of `turns`: 0 is the
/// outer one.
std::vector<float> inTurn(const core::Resampling &r, Shape image, const Shape &to,
                          std::vector<float> values, std::initializer_list<std::size_t> turns) {
  for (const std::size_t i : turns) {
    const ResamplePass pass(core::bandsOf(r, i, image[i], to[i]));
    const std::int64_t before = i == 0 ? 1 : image[0], behind = i == 0 ? image[1] : 1;
    image[i] = to[i];
    std::vector<float> next(static_cast<std::size_t>(core::elementCount(image)));
    pass.apply({values.data(), 1}, {next.data(), 1}, before, behind, 1);
    values = std::move(next);
  }
  return values;
}

} // namespace

// The tensor between two dimensions is as small as can be. Rounding tells which one came first.
TEST(Resample, DimensionsThatShrinkComeFirst) {
  for (const auto &[from, to, isOuterFirst] : {std::tuple(Shape{35, 49}, Shape{77, 21}, false),
                                               std::tuple(Shape{49, 35}, Shape{21, 77}, true),
                                               std::tuple(Shape{35, 35}, Shape{49, 63}, true),
                                               std::tuple(Shape{35, 35}, Shape{49, 49}, false),
                                               std::tuple(Shape{49, 49}, Shape{35, 35}, true)}) {
    const core::Resampling r = linearOf({0, 1}, from, to, false);
    const std::vector<float> values = randomValues(core::elementCount(from));
    const auto outerFirst = inTurn(r, from, to, values, {0, 1});
    const auto innerFirst = inTurn(r, from, to, values, {1, 0});
    EXPECT_NE(outerFirst, innerFirst);
    EXPECT_EQ(resized(plainLayout(from, DataType::f32), r, to, values),
              isOuterFirst ? outerFirst : innerFirst);
  }
}

TEST(Resample, LayoutsAgree) {
  for (const std::int64_t channels : {1, 3, 16, 65, 150})
    for (const Shape &size : {Shape{10, 9}, Shape{10, 8}, Shape{20, 12}, Shape{3, 3}}) {
      const Shape x{2, channels, 5, 6}, y{2, channels, size[0], size[1]}, axes{2, 3};
      core::Resampling r = linearOf(axes, x, y, /*alignsCorners=*/size[1] == 8);
      if (size[1] == 12) {
        r.filter = ResampleFilter::cubic;
        r.cubicCoefficient = -0.7;
      }
      expectAgreement(x, y, r, {Tag::aBcd16b, Tag::aBcd8b, Tag::acdb});
    }
}

TEST(Resample, VolumesOfAnyLayout) {
  const Shape x{2, 70, 3, 5, 4}, y{2, 70, 6, 4, 7}, axes{2, 3, 4};
  expectAgreement(x, y, linearOf(axes, x, y, false), {Tag::aBcde16b, Tag::acdeb});
}

TEST(Resample, RoundsWhatItStores) {
  const Shape x{2, 70, 5, 6}, y{2, 70, 10, 9}, axes{2, 3};
  const core::Resampling r = linearOf(axes, x, y, false);
  const Layout layout(x, DataType::bf16, Tag::acdb);
  std::vector<float> values = randomValues(core::elementCount(x));
  std::vector<std::uint16_t> stored, result(static_cast<std::size_t>(core::elementCount(y)));
  for (float &value : values) {
    stored.push_back(core::bf16FromFloat(value));
    value = core::floatFromBf16(stored.back());
  }
  const std::vector<float> exact = resized(withType(layout, DataType::f32), r, y, values);
  std::vector<ResamplePass> passes;
  for (std::size_t i : {0, 1})
    passes.emplace_back(core::bandsOf(r, i, x[i + 2], y[i + 2]));
  Resizing(layout, axes, std::move(passes)).run(stored.data(), result.data());
  for (std::size_t i = 0; i < exact.size(); ++i)
    ASSERT_EQ(result[i], core::bf16FromFloat(exact[i])) << i;
}

TEST(Resample, NaNStaysWhereItHasAWeight) {
  for (const std::int64_t size : {9, 14, 17, 28, 3, 5})
    for (const bool isBackward : {false, true}) {
      const Shape small{1, 1, 7}, large{1, 1, size};
      const core::Resampling r =
          isBackward ? linearOf({2}, large, small, true) : linearOf({2}, small, large, true);
      core::Bands matrix = core::bandsOf(r, 0, isBackward ? size : 7, isBackward ? 7 : size);
      if (isBackward)
        matrix = core::transposed(matrix);
      const ResamplePass pass(matrix);
      for (std::int64_t bad = 0; bad < 7; ++bad) {
        std::vector<float> x(7, 1), y(static_cast<std::size_t>(size));
        x[static_cast<std::size_t>(bad)] = NAN;
        pass.apply({x.data(), 1}, {y.data(), 1}, 1, 1, 1);
        for (std::int64_t i = 0; i < size; ++i) {
          const std::int64_t first = matrix.firsts[static_cast<std::size_t>(i)];
          const bool isRead = bad >= first && bad < first + matrix.count(i);
          EXPECT_EQ(std::isnan(y[static_cast<std::size_t>(i)]), isRead) << size << " " << i;
        }
      }
    }
}

} // namespace syncline::cpu

// Scaling against a slow reference, random changes of images, and their options.
#include "runtime/data/Preparation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <set>

namespace syncline {
namespace {

using namespace data;

Image randomImage(std::int64_t channels, std::int64_t height, std::int64_t width) {
  const RandomStream random(3, "image");
  Image image;
  image.resize(channels, height, width);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    image.values[i] = static_cast<float>(0.1 + 0.9 * random.uniform(i)); // no zero among them
  return image;
}

/// The weighted mean of all pixels, by the formula.
double pixelByTheBook(const Image &from, std::int64_t c, double y, double x, double yRadius,
                      double xRadius) {
  double sum = 0, weights = 0;
  for (std::int64_t row = 0; row < from.height; ++row)
    for (std::int64_t column = 0; column < from.width; ++column) {
      const double dy = std::abs(static_cast<double>(row) + 0.5 - y) / yRadius;
      const double dx = std::abs(static_cast<double>(column) + 0.5 - x) / xRadius;
      const double weight = std::max(1 - dy, 0.0) * std::max(1 - dx, 0.0);
      weights += weight;
      sum += weight *
             from.values[static_cast<std::size_t>((c * from.height + row) * from.width + column)];
    }
  return sum / weights;
}

// Every pixel is the weighted mean over the whole image, where parts are made smaller and larger.
TEST(Image, ScalesByTheBook) {
  const Image image = randomImage(2, 17, 23);
  for (const Box &box : {Box{0, 0, 23, 17}, Box{3, 2, 9, 16}, Box{0.5, 4.25, 20.5, 9.75}})
    for (const auto &[height, width] : {std::pair(5, 7), {17, 23}, {40, 9}, {1, 1}}) {
      const Image result = scaled(image, box, height, width);
      ASSERT_EQ(result.height, height);
      ASSERT_EQ(result.width, width);
      const double down = (box.bottom - box.top) / height, right = (box.right - box.left) / width;
      for (std::int64_t c = 0; c < 2; ++c)
        for (std::int64_t y = 0; y < height; ++y)
          for (std::int64_t x = 0; x < width; ++x)
            EXPECT_NEAR(result.values[static_cast<std::size_t>((c * height + y) * width + x)],
                        pixelByTheBook(image, c, box.top + (static_cast<double>(y) + 0.5) * down,
                                       box.left + (static_cast<double>(x) + 0.5) * right,
                                       std::max(down, 1.0), std::max(right, 1.0)),
                        1e-5);
    }
}

SampleFormat formatOf(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return {{{"x", ElementType::f32, {4, channels, height, width}}}, ElementType::i64, {4}, true, 3};
}

std::vector<float> prepared(const ImageOptions &options, const Image &image, std::int64_t height,
                            std::int64_t width, std::int64_t epoch, std::int64_t sample) {
  auto made = Preparation::create(options, formatOf(image.channels, height, width));
  EXPECT_TRUE(made.isOk()) << made.status().message();
  std::vector<float> values(static_cast<std::size_t>(image.channels * height * width));
  (*made)->write(image, epoch, sample, reinterpret_cast<std::byte *>(values.data()));
  return values;
}

// An image of the model's size stays as it is, and another one has its middle scaled.
TEST(Preparation, SizesWithoutOptions) {
  const Image image = randomImage(3, 6, 10);
  EXPECT_EQ(prepared({}, image, 6, 10, 0, 0), image.values);
  EXPECT_EQ(prepared({}, image, 3, 3, 0, 0), scaled(image, {2, 0, 8, 6}, 3, 3).values);
  EXPECT_EQ(prepared({}, image, 6, 20, 0, 0), scaled(image, {0, 1.5, 10, 4.5}, 6, 20).values);
}

// Half of the samples are mirrored, each exactly.
TEST(Preparation, Flips) {
  const Image image = randomImage(2, 4, 5);
  Image mirrored = image;
  for (std::size_t row = 0; row < 8; ++row)
    std::reverse(mirrored.values.begin() + row * 5, mirrored.values.begin() + (row + 1) * 5);
  ImageOptions options;
  ASSERT_TRUE(parseAugment("flip", options));
  int flips = 0;
  for (std::int64_t sample = 0; sample < 1000; ++sample) {
    const std::vector<float> values = prepared(options, image, 4, 5, 2, sample);
    const bool isFlipped = values == mirrored.values;
    EXPECT_TRUE(isFlipped || values == image.values);
    flips += isFlipped ? 1 : 0;
  }
  EXPECT_NEAR(flips, 500, 80); // five deviations
}

// A shifted image is the image at one of all offsets, with zeros around it.
TEST(Preparation, Shifts) {
  const std::int64_t side = 6, shift = 2;
  const Image image = randomImage(1, side, side);
  ImageOptions options;
  ASSERT_TRUE(parseAugment("shift:2", options));
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::int64_t sample = 0; sample < 400; ++sample) {
    const std::vector<float> values = prepared(options, image, side, side, 0, sample);
    int matches = 0;
    for (std::int64_t down = -shift; down <= shift; ++down)
      for (std::int64_t right = -shift; right <= shift; ++right) {
        std::vector<float> wanted(values.size(), 0);
        for (std::int64_t y = std::max<std::int64_t>(down, 0); y < std::min(side, side + down); ++y)
          for (std::int64_t x = std::max<std::int64_t>(right, 0); x < std::min(side, side + right);
               ++x)
            wanted[static_cast<std::size_t>(y * side + x)] =
                image.values[static_cast<std::size_t>((y - down) * side + x - right)];
        if (values == wanted) {
          ++matches;
          seen.insert({down, right});
        }
      }
    EXPECT_EQ(matches, 1);
  }
  EXPECT_EQ(seen.size(), 25u);
}

// A random part has 8 % to 100 % of the area, sides in a ratio of 3:4 to 4:3, and lies anywhere.
TEST(Preparation, Crops) {
  const std::int64_t height = 120, width = 160, side = 8;
  Image image; // the place of each pixel, so that a result tells which part it shows
  image.resize(2, height, width);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      image.values[static_cast<std::size_t>(y * width + x)] = static_cast<float>(y) + 0.5f;
      image.values[static_cast<std::size_t>((height + y) * width + x)] =
          static_cast<float>(x) + 0.5f;
    }
  ImageOptions options;
  ASSERT_TRUE(parseAugment("crop", options));
  double least = 1, most = 0, areas = 0, centers = 0;
  for (std::int64_t sample = 0; sample < 500; ++sample) {
    const std::vector<float> values = prepared(options, image, side, side, 0, sample);
    // From inner pixels, since those at the border are means of one side only.
    const auto at = [&](std::int64_t c, std::int64_t y, std::int64_t x) {
      return static_cast<double>(values[static_cast<std::size_t>((c * side + y) * side + x)]);
    };
    const double boxHeight = (at(0, 5, 3) - at(0, 2, 3)) / 3 * side;
    const double boxWidth = (at(1, 3, 5) - at(1, 3, 2)) / 3 * side;
    const double area = boxHeight * boxWidth / (height * width), ratio = boxWidth / boxHeight;
    EXPECT_GT(area, 0.08 * 0.95);
    EXPECT_LT(area, 1.001);
    EXPECT_GT(ratio, 0.75 * 0.96);
    EXPECT_LT(ratio, 4.0 / 3 * 1.04);
    least = std::min(least, area);
    most = std::max(most, area);
    areas += area / 500;
    centers += (at(1, 3, 3) + at(1, 3, 4)) / 2 / 500;
  }
  EXPECT_LT(least, 0.12);
  EXPECT_GT(most, 0.85);
  EXPECT_NEAR(areas, 0.435, 0.05); // less than the middle, as large parts often do not fit
  EXPECT_NEAR(centers, width / 2.0, 6);
}

// Random numbers come from seed, epoch and sample, not from the order of asking.
TEST(Preparation, DrawsByPosition) {
  const Image image = randomImage(3, 20, 20);
  ImageOptions options;
  ASSERT_TRUE(parseAugment("crop,shift:3,flip", options));
  auto made = Preparation::create(options, formatOf(3, 12, 12));
  options.seed = 1;
  auto other = Preparation::create(options, formatOf(3, 12, 12));
  ASSERT_TRUE(made.isOk() && other.isOk());
  const auto values = [&](const Preparation &by, std::int64_t epoch, std::int64_t sample) {
    std::vector<float> to(3 * 12 * 12);
    by.write(image, epoch, sample, reinterpret_cast<std::byte *>(to.data()));
    return to;
  };
  std::vector<std::vector<float>> forwards;
  for (std::int64_t sample = 0; sample < 20; ++sample)
    forwards.push_back(values(**made, 4, sample));
  for (std::int64_t sample = 19; sample >= 0; --sample) {
    EXPECT_EQ(values(**made, 4, sample), forwards[static_cast<std::size_t>(sample)]);
    EXPECT_NE(values(**made, 5, sample), forwards[static_cast<std::size_t>(sample)]);
    EXPECT_NE(values(**other, 4, sample), forwards[static_cast<std::size_t>(sample)]);
  }
}

// Each channel has its mean and deviation, or all have one.
TEST(Preparation, Normalizes) {
  const Image image = randomImage(2, 3, 3);
  ImageOptions one, two;
  ASSERT_TRUE(parseNormalize("0.5:0.25", one));
  ASSERT_TRUE(parseNormalize("0.5,1e-1:0.25,2", two));
  const auto byOne = prepared(one, image, 3, 3, 0, 0), byTwo = prepared(two, image, 3, 3, 0, 0);
  for (std::size_t i = 0; i < 18; ++i) {
    EXPECT_NEAR(byOne[i], (image.values[i] - 0.5) / 0.25, 1e-6);
    EXPECT_NEAR(byTwo[i], i < 9 ? (image.values[i] - 0.5) / 0.25 : (image.values[i] - 0.1) / 2,
                1e-6);
  }
}

// Options are read whole or not at all, and those that do not fit the model say why.
TEST(Preparation, Refusals) {
  for (const char *text : {"", "crop,", ",crop", "turn", "shift", "shift:", "shift:0", "shift:-1",
                           "shift:2x", "crop flip"}) {
    ImageOptions options;
    EXPECT_FALSE(parseAugment(text, options)) << text;
  }
  for (const char *text :
       {"", "1", ":", "1:", ":1", "1:0", "1:-1", "1,2:1", "x:1", "1:nan", "1,:1"}) {
    ImageOptions options;
    EXPECT_FALSE(parseNormalize(text, options)) << text;
  }
  const auto expectRefused = [](const ImageOptions &options, const SampleFormat &format,
                                const char *why) {
    const auto made = Preparation::create(options, format);
    ASSERT_FALSE(made.isOk());
    EXPECT_EQ(made.status().kind(), ErrorKind::badInput);
    EXPECT_NE(made.status().message().find(why), std::string::npos) << made.status().message();
  };
  ImageOptions flip, three, far;
  ASSERT_TRUE(parseAugment("flip", flip) && parseNormalize("1,2,3:1,1,1", three) &&
              parseAugment("shift:4", far));
  SampleFormat vectors = formatOf(1, 4, 4), maps = formatOf(1, 4, 4);
  vectors.inputs[0].shape = {4, 16};
  maps.targetShape = {4, 4, 4};
  expectRefused(flip, vectors, "[channels, height, width], the model's samples [16]");
  expectRefused(flip, maps, "targets have the shape [4, 4]");
  expectRefused(three, formatOf(1, 4, 4), "3 means, the model's images have 1 channels");
  expectRefused(far, formatOf(1, 4, 9), "out of the model's 4 x 9 pixels");
}

} // namespace
} // namespace syncline

// Images in memory, and parts of them in another size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace syncline::data {

/// Pixels as floating-point numbers: one plane for each channel, row-major.
struct Image {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<float> values;

  void resize(std::int64_t c, std::int64_t h, std::int64_t w) {
    channels = c;
    height = h;
    width = w;
    values.resize(static_cast<std::size_t>(c * h * w));
  }
};

/// A part of an image, in pixels from its upper left corner.
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
};

/// The part `box` of an image, scaled to another size: bilinear with antialiasing, as Pillow's
/// Image.resize(size, BILINEAR, box), but without its rounding to whole numbers. A pixel of the
/// result is the mean of the pixels around its place, weighted by a triangle that is as wide as two
/// pixels of the result, or of the image where that is enlarged.
Image scaled(const Image &from, const Box &box, std::int64_t height, std::int64_t width);

} // namespace syncline::data

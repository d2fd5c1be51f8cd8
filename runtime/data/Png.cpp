// Decoding PNG files by libpng's simplified interface, which needs no jumps out of its errors.
#include "runtime/data/ImageFile.h"

#include <png.h>

namespace syncline::data {

Status decodePng(std::span<const std::byte> bytes, Pixels &pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const auto broken = [&] { return Status::badInput(std::string("broken PNG: ") + image.message); };
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()))
    return broken();
  pixels.width = image.width;
  pixels.height = image.height;
  if (pixels.width * pixels.height > mostPixels) {
    png_image_free(&image);
    return Status::badInput("the image has " + std::to_string(pixels.width) + " x " +
                            std::to_string(pixels.height) + " pixels, expected at most " +
                            std::to_string(mostPixels) + " in total");
  }
  // Transparency is read where it is there, since libpng would else blend with a background.
  const bool isColoured = (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  const bool isTransparent = (image.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  image.format =
      (isColoured ? PNG_FORMAT_FLAG_COLOR : 0) | (isTransparent ? PNG_FORMAT_FLAG_ALPHA : 0);
  pixels.channels = isColoured ? 3 : 1;
  const int stored = pixels.channels + (isTransparent ? 1 : 0);
  pixels.values.resize(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, pixels.values.data(), 0, nullptr))
    return broken();
  if (stored == pixels.channels)
    return Status::ok();
  const std::size_t count = static_cast<std::size_t>(pixels.width * pixels.height);
  unsigned char *to = pixels.values.data(); // moved to the front, pixel by pixel
  for (std::size_t i = 0; i < count; ++i)
    for (int c = 0; c < pixels.channels; ++c)
      *to++ = pixels.values[i * static_cast<std::size_t>(stored) + static_cast<std::size_t>(c)];
  return Status::ok();
}

} // namespace syncline::data

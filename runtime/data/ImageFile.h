// Decoding image files: JPEG by libjpeg, PNG by libpng, where they were there at build time.
#pragma once

#include "runtime/data/Image.h"
#include "runtime/data/InputFile.h"

#include <span>
#include <string>

namespace syncline::data {

/// Decoded pixels, row-major, the channels of a pixel side by side.
struct Pixels {
  std::int64_t width = 0, height = 0;
  int channels = 3; ///< 1 for grey, 3 for red, green and blue
  std::vector<unsigned char> values;
};

/// The largest image that is decoded, in bytes of its pixels: 44 megapixels in colour. Its planes
/// take four times as many. Larger ones are taken for broken files.
inline constexpr std::int64_t mostDecodedBytes = std::int64_t{1} << 27;

/// The largest file that is read. Uncompressed pixels of the largest image have fewer bytes.
inline constexpr std::int64_t mostBytes = 2 * mostDecodedBytes;

/// Sets the image's size and allocates its pixels. Errors: badInput for one that is too large.
Status setSize(Pixels &pixels, std::int64_t width, std::int64_t height, int channels);

/// Whether a name ends in .jpg, .jpeg or .png, in small or capital letters.
bool isImageName(const std::string &name);

/// Decodes a file into `channels` planes (1 or 3) with values from 0 to 1. Colours become grey by
/// the weights of ITU-R 601, as in Pillow. A channel for transparency, a PNG's gamma and a
/// photograph's orientation are ignored; of 16 bits the high byte counts. Errors: badInput, naming
/// the file, for what is broken or cut off, too large, of another format, or of a format whose
/// library was not there at build time, and where there is no memory for it.
Status readImage(const std::string &path, std::int64_t channels, Image &image);

/// The decoders; errors are without the file's name. Precondition: the build has the library.
Status decodeJpeg(std::span<const std::byte> bytes, Pixels &pixels);
Status decodePng(std::span<const std::byte> bytes, Pixels &pixels);

} // namespace syncline::data

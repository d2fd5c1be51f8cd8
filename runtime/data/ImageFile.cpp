// Telling formats apart, and pixels as planes.
#include "runtime/data/ImageFile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <new>
#include <string_view>

namespace syncline::data {
namespace {

constexpr std::size_t keptBytes = std::size_t{1} << 26; ///< of what one image needed, for the next

using Decoder = Status (*)(std::span<const std::byte>, Pixels &);

/// An image format: how its files begin, and who decodes them.
struct Format {
  std::string_view start;
  const char *package; ///< of Debian, with the library
  Decoder decode;      ///< null where the library was not there at build time
};

#ifdef SYNCLINE_JPEG
constexpr Decoder jpeg = decodeJpeg;
#else
constexpr Decoder jpeg = nullptr;
#endif
#ifdef SYNCLINE_PNG
constexpr Decoder png = decodePng;
#else
constexpr Decoder png = nullptr;
#endif
constexpr std::array formats = {Format{"\xff\xd8\xff", "libjpeg-dev", jpeg},
                                Format{"\x89PNG\r\n\x1a\n", "libpng-dev", png}};

Status decode(std::span<const std::byte> bytes, Pixels &pixels) {
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  for (const Format &format : formats) {
    if (!text.starts_with(format.start))
      continue;
    if (!format.decode)
      return Status::badInput(std::string("this build cannot decode it: install ") +
                              format.package + " and build again");
    return format.decode(bytes, pixels);
  }
  return Status::badInput("expected a JPEG or a PNG file");
}

/// The channel's value of a pixel, from 0 to 255.
unsigned char valueOf(const unsigned char *pixel, int have, std::int64_t want, std::int64_t c) {
  if (have == 1)
    return *pixel;
  if (want == have)
    return pixel[c];
  const unsigned sum = pixel[0] * 19595u + pixel[1] * 38470u + pixel[2] * 7471u; // of 65536
  return static_cast<unsigned char>((sum + 0x8000u) >> 16);
}

} // namespace

Status setSize(Pixels &pixels, std::int64_t width, std::int64_t height, int channels) {
  // Both are below 2^32: the product fits.
  if (width > mostDecodedBytes / channels / std::max<std::int64_t>(height, 1))
    return Status::badInput("the image has " + std::to_string(width) + " x " +
                            std::to_string(height) + " pixels of " + std::to_string(channels) +
                            (channels == 1 ? " byte" : " bytes") + ", expected at most " +
                            std::to_string(mostDecodedBytes) + " bytes in total");
  pixels.width = width;
  pixels.height = height;
  pixels.channels = channels;
  pixels.values.resize(static_cast<std::size_t>(width * height * channels));
  return Status::ok();
}

bool isImageName(const std::string &name) {
  std::string small = name;
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small.ends_with(".jpg") || small.ends_with(".jpeg") || small.ends_with(".png");
}

/// As readImage(), which says whose memory it is.
static Status decodeFile(const std::string &path, std::int64_t channels, Image &image) {
  SYNCLINE_TRY_GET(file, InputFile::open(path));
  if (file->size() > mostBytes)
    return Status::badInput("'" + path + "': the file has " + std::to_string(file->size()) +
                            " bytes, expected at most " + std::to_string(mostBytes));
  static thread_local std::vector<std::byte> bytes; // kept from call to call, as is `pixels`
  static thread_local Pixels pixels;
  bytes.resize(static_cast<std::size_t>(file->size()));
  SYNCLINE_TRY(file->read(0, bytes));
  if (Status s = decode(bytes, pixels); !s)
    return Status::error(s.kind(), "'" + path + "': " + s.message());
  image.resize(channels, pixels.height, pixels.width);
  float *to = image.values.data();
  const std::int64_t count = pixels.height * pixels.width;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < count; ++i)
      *to++ = static_cast<float>(valueOf(pixels.values.data() + i * pixels.channels,
                                         pixels.channels, channels, c)) /
              255;
  // A large image's memory is not kept for the small ones that may follow.
  if (pixels.values.capacity() > keptBytes)
    pixels = {};
  if (bytes.capacity() > keptBytes)
    bytes = {};
  return Status::ok();
}

Status readImage(const std::string &path, std::int64_t channels, Image &image) {
  try {
    return decodeFile(path, channels, image);
  } catch (const std::bad_alloc &) {
    return Status::badInput("'" + path + "': out of memory");
  }
}

} // namespace syncline::data

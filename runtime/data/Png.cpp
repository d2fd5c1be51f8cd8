// Decoding PNG files by libpng. It leaves its errors by longjmp(), so that no object with a
// destructor may live in the function that calls it. Its simplified interface would convert pixels
// by a file's gamma.
#include "runtime/data/ImageFile.h"

#include <csetjmp>
#include <cstring>

#include <png.h>

namespace syncline::data {
namespace {

/// A decoder and what its callbacks need.
struct Reader {
  explicit Reader(std::span<const std::byte> bytes) : rest(bytes) {}
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader &) = delete;
  Reader &operator=(const Reader &) = delete;

  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<const std::byte> rest; ///< not read yet
  std::jmp_buf place;
  char text[128] = "out of memory";
};

[[noreturn]] void leave(png_structp png, png_const_charp message) {
  Reader &reader = *static_cast<Reader *>(png_get_error_ptr(png));
  std::strncpy(reader.text, message, sizeof(reader.text) - 1);
  std::longjmp(reader.place, 1);
}

void ignoreWarning(png_structp, png_const_charp) {} // other programs read such files too

void readBytes(png_structp png, png_bytep to, std::size_t count) {
  Reader &reader = *static_cast<Reader *>(png_get_io_ptr(png));
  if (count > reader.rest.size())
    png_error(png, "the file is cut off");
  std::memcpy(to, reader.rest.data(), count);
  reader.rest = reader.rest.subspan(count);
}

/// Asks for 8 bits of grey, of red, green and blue, or of numbers in the palette, without
/// transparency: of 16 bits the high ones, as Pillow takes colours.
void setConversions(png_structp png, png_infop info) {
  if (png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE)
    png_set_packing(png);
  else if (png_get_bit_depth(png, info) < 8)
    png_set_expand_gray_1_2_4_to_8(png);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
}

/// Puts colours in the place of their numbers in the palette; false where it lacks one.
bool takeColours(png_structp png, png_infop info, Pixels &pixels) {
  png_colorp palette = nullptr;
  int colours = 0;
  png_get_PLTE(png, info, &palette, &colours);
  const std::size_t count = pixels.values.size();
  pixels.channels = 3;
  pixels.values.resize(3 * count);
  for (std::size_t i = count;
       i-- > 0;) { // from the end: colours overwrite only numbers read before
    const int number = pixels.values[i];
    if (number >= colours)
      return false;
    pixels.values[3 * i] = palette[number].red;
    pixels.values[3 * i + 1] = palette[number].green;
    pixels.values[3 * i + 2] = palette[number].blue;
  }
  return true;
}

/// Returns false after libpng's error; `size` is that of setSize().
bool decode(Reader &reader, Pixels &pixels, Status &size) {
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, leave, ignoreWarning);
  reader.info = reader.png ? png_create_info_struct(reader.png) : nullptr;
  if (!reader.info)
    return false;
  const png_structp png = reader.png;
  if (setjmp(reader.place) != 0)
    return false;
  png_set_read_fn(png, &reader, readBytes);
  // Chunks that no pixel depends on are skipped, however large.
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(png, reader.info);
  const bool isColour = png_get_color_type(png, reader.info) & PNG_COLOR_MASK_COLOR;
  size = setSize(pixels, png_get_image_width(png, reader.info),
                 png_get_image_height(png, reader.info), isColour ? 3 : 1);
  if (!size)
    return true;
  setConversions(png, reader.info);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, reader.info);
  pixels.channels = png_get_channels(png, reader.info);
  const std::size_t rowBytes = png_get_rowbytes(png, reader.info);
  pixels.values.resize(rowBytes * static_cast<std::size_t>(pixels.height));
  for (int pass = 0; pass < passes; ++pass)
    for (std::int64_t y = 0; y < pixels.height; ++y)
      png_read_row(png, pixels.values.data() + rowBytes * static_cast<std::size_t>(y), nullptr);
  const bool isPalette = png_get_color_type(png, reader.info) == PNG_COLOR_TYPE_PALETTE;
  if (isPalette && !takeColours(png, reader.info, pixels))
    png_error(png, "a pixel's number is not in the palette");
  return true;
}

} // namespace

Status decodePng(std::span<const std::byte> bytes, Pixels &pixels) {
  Reader reader(bytes);
  Status size = Status::ok();
  if (!decode(reader, pixels, size))
    return Status::badInput(std::string("broken PNG: ") + reader.text);
  return size;
}

} // namespace syncline::data

// Decoding JPEG files by libjpeg. It leaves its errors by longjmp(), so that no object with a
// destructor may live in the functions that call it.
#include "runtime/data/ImageFile.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio> // jpeglib.h needs it

#include <jpeglib.h>

#include <jerror.h>

namespace syncline::data {
namespace {

struct ErrorState {
  jpeg_error_mgr base; ///< first, so that its address is that of the whole
  jpeg_progress_mgr progress;
  std::jmp_buf place;
  char text[JMSG_LENGTH_MAX];
  bool isCutOff;
};

ErrorState &stateOf(j_common_ptr info) { return *reinterpret_cast<ErrorState *>(info->err); }

[[noreturn]] void leave(j_common_ptr info) {
  ErrorState &state = stateOf(info);
  (*info->err->format_message)(info, state.text);
  std::longjmp(state.place, 1);
}

/// libjpeg fills what is missing with grey and only warns. Other warnings are about files that
/// other programs read too.
void noteWarning(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER))
    stateOf(info).isCutOff = true;
}

/// The most scans of an image of so many pixels: a file of some kilobytes can hold thousands, each
/// of which takes the time of an image. Photographs have about ten.
int mostScans(std::int64_t pixels) {
  constexpr std::int64_t least = 16, most = 100, mostWork = std::int64_t{1} << 30; // pixels
  return static_cast<int>(std::clamp(mostWork / std::max<std::int64_t>(pixels, 1), least, most));
}

void countScans(j_common_ptr info) {
  const auto &reader = *reinterpret_cast<jpeg_decompress_struct *>(info);
  const int most = mostScans(std::int64_t{reader.image_width} * std::int64_t{reader.image_height});
  if (reader.input_scan_number <= most)
    return;
  ErrorState &state = stateOf(info);
  std::snprintf(state.text, sizeof state.text, "it has more than %d scans", most);
  std::longjmp(state.place, 1);
}

/// `info` is created, and destroyed by the caller. Returns false after libjpeg's error; `size` is
/// that of setSize().
bool decode(jpeg_decompress_struct &info, ErrorState &state, std::span<const std::byte> bytes,
            Pixels &pixels, Status &size) {
  if (setjmp(state.place) != 0)
    return false;
  jpeg_create_decompress(&info);
  info.progress = &state.progress;
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
  jpeg_read_header(&info, TRUE);
  if (info.num_components > 3) {
    std::snprintf(state.text, sizeof state.text, "it has %d channels, expected grey or colours",
                  info.num_components);
    return false;
  }
  const bool isGrey = info.jpeg_color_space == JCS_GRAYSCALE;
  size = setSize(pixels, info.image_width, info.image_height, isGrey ? 1 : 3);
  if (!size)
    return true;
  info.out_color_space = isGrey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&info);
  const std::size_t rowBytes = static_cast<std::size_t>(info.output_width) *
                               static_cast<std::size_t>(info.output_components);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.values.data() + rowBytes * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

} // namespace

Status decodeJpeg(std::span<const std::byte> bytes, Pixels &pixels) {
  jpeg_decompress_struct info{};
  ErrorState state{};
  info.err = jpeg_std_error(&state.base);
  state.base.error_exit = leave;
  state.base.emit_message = noteWarning;
  state.progress.progress_monitor = countScans;
  Status size = Status::ok();
  bool isDecoded = false;
  try {
    isDecoded = decode(info, state, bytes, pixels, size);
  } catch (...) { // no memory for the pixels
    jpeg_destroy_decompress(&info);
    throw;
  }
  jpeg_destroy_decompress(&info);
  if (!isDecoded)
    return Status::badInput(std::string("broken JPEG: ") + state.text);
  if (!size)
    return size;
  if (state.isCutOff)
    return Status::badInput("broken JPEG: the file is cut off");
  return Status::ok();
}

} // namespace syncline::data

// Decoding JPEG files by libjpeg. It leaves its errors by longjmp(), so that no object with a
// destructor may live in the functions that call it.
#include "runtime/data/ImageFile.h"

#include <csetjmp>
#include <cstdio> // jpeglib.h needs it
#include <cstring>

#include <jpeglib.h>

#include <jerror.h>

namespace syncline::data {
namespace {

struct ErrorState {
  jpeg_error_mgr base; ///< first, so that its address is that of the whole
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

enum class Outcome { decoded, failed, tooLarge };

/// `info` is created, and destroyed by the caller.
Outcome decode(jpeg_decompress_struct &info, ErrorState &state, std::span<const std::byte> bytes,
               Pixels &pixels) {
  if (setjmp(state.place) != 0)
    return Outcome::failed;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
  jpeg_read_header(&info, TRUE);
  pixels.width = info.image_width;
  pixels.height = info.image_height;
  if (pixels.width * pixels.height > mostPixels)
    return Outcome::tooLarge;
  info.out_color_space = info.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&info);
  pixels.channels = info.output_components;
  const std::size_t rowBytes = static_cast<std::size_t>(info.output_width) *
                               static_cast<std::size_t>(info.output_components);
  pixels.values.resize(rowBytes * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.values.data() + rowBytes * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return Outcome::decoded;
}

} // namespace

Status decodeJpeg(std::span<const std::byte> bytes, Pixels &pixels) {
  jpeg_decompress_struct info{};
  ErrorState state{};
  info.err = jpeg_std_error(&state.base);
  state.base.error_exit = leave;
  state.base.emit_message = noteWarning;
  const Outcome outcome = decode(info, state, bytes, pixels);
  jpeg_destroy_decompress(&info);
  if (outcome == Outcome::failed)
    return Status::badInput(std::string("broken JPEG: ") + state.text);
  if (outcome == Outcome::tooLarge)
    return Status::badInput("the image has " + std::to_string(pixels.width) + " x " +
                            std::to_string(pixels.height) + " pixels, expected at most " +
                            std::to_string(mostPixels) + " in total");
  if (state.isCutOff)
    return Status::badInput("broken JPEG: the file is cut off");
  return Status::ok();
}

} // namespace syncline::data

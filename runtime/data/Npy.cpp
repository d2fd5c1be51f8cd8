// Reading and writing .npy files.
#include "runtime/data/Npy.h"

#include "runtime/core/StepTypes.h"
#include "syncline/OutputFile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <ostream>
#include <string_view>

namespace syncline::data {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::int64_t longestHeader = 1 << 20; ///< in bytes; NumPy's have about a hundred

Status bad(const std::string &path, const std::string &what) {
  return Status::badInput("'" + path + "': " + what);
}

/// The value of a key in the header's Python dictionary: the text up to the next comma or brace
/// outside brackets.
std::optional<std::string_view> field(std::string_view header, std::string_view key) {
  std::string quoted = "'" + std::string(key) + "'";
  std::size_t at = header.find(quoted);
  if (at == std::string_view::npos)
    return std::nullopt;
  header.remove_prefix(at + quoted.size());
  std::size_t start = header.find_first_not_of(" :");
  if (start == std::string_view::npos)
    return std::nullopt;
  header.remove_prefix(start);
  std::size_t end = header[0] == '(' ? header.find(')') : header.find_first_of(",}");
  if (end == std::string_view::npos)
    return std::nullopt;
  return header.substr(0, end + (header[0] == '(' ? 1 : 0));
}

std::optional<ElementType> typeOf(std::string_view descr) {
  if (descr == "'<f4'")
    return ElementType::f32;
  if (descr == "'<f8'")
    return ElementType::f64;
  if (descr == "'<f2'")
    return ElementType::f16;
  if (descr == "'<i8'")
    return ElementType::i64;
  if (descr == "'<i4'")
    return ElementType::i32;
  if (descr == "'|u1'" || descr == "'|b1'")
    return ElementType::u8;
  return std::nullopt;
}

/// Parses a shape: "(3, 4)", "(3,)" or "()".
std::optional<Shape> shapeOf(std::string_view text) {
  Shape shape;
  if (text.size() < 2 || text.front() != '(' || text.back() != ')')
    return std::nullopt;
  text = text.substr(1, text.size() - 2);
  while (true) {
    std::size_t start = text.find_first_not_of(" ,");
    if (start == std::string_view::npos)
      return shape;
    text.remove_prefix(start);
    std::int64_t extent = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0)
      return std::nullopt;
    text.remove_prefix(end - text.data());
    shape.push_back(extent);
  }
}

/// The array's size in bytes, or nothing if it overflows.
std::optional<std::size_t> bytesOf(const Shape &shape, ElementType type) {
  std::size_t bytes = core::elementBytes(type);
  for (std::int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes))
      return std::nullopt;
  return bytes;
}

const char *descrOf(ElementType type) {
  switch (type) {
  case ElementType::f32:
    return "<f4";
  case ElementType::f64:
    return "<f8";
  case ElementType::f16:
    return "<f2";
  case ElementType::bf16:
    return "<u2"; // NumPy has no bfloat16, so the bits are stored
  case ElementType::i64:
    return "<i8";
  case ElementType::i32:
    return "<i4";
  case ElementType::u8:
    return "|u1";
  }
  return "";
}

/// Bytes in front of the header, and of the header itself.
struct HeaderPlace {
  std::int64_t prefix = 0, length = 0;
};

Result<HeaderPlace> findHeader(const InputFile &file) {
  const std::string &path = file.path();
  if (file.size() == 0)
    return bad(path, "the file is empty");
  std::array<std::byte, 12> start{};
  const auto known = static_cast<std::size_t>(std::min<std::int64_t>(file.size(), start.size()));
  SYNCLINE_TRY(file.read(0, std::span(start).first(known)));
  if (known < 10 || std::memcmp(start.data(), magic.data(), magic.size()) != 0)
    return bad(path, "not a .npy file");
  const int version = static_cast<int>(start[6]);
  if (version < 1 || version > 3)
    return bad(path, ".npy version " + std::to_string(version) + " is not supported");
  HeaderPlace place{.prefix = version == 1 ? 10 : 12};
  for (std::int64_t i = place.prefix - 1; i >= 8; --i)
    place.length = place.length << 8 | static_cast<std::int64_t>(start[i]);
  if (place.prefix + place.length > file.size())
    return bad(path, "the file is cut off in its header");
  if (place.length > longestHeader)
    return bad(path, "the header has " + std::to_string(place.length) +
                         " bytes, expected at most " + std::to_string(longestHeader));
  return place;
}

} // namespace

Status NpyFile::parse(const std::string &header) {
  const std::string &path = file.path();
  auto descr = field(header, "descr"), order = field(header, "fortran_order"),
       shape = field(header, "shape");
  if (!descr || !order || !shape)
    return bad(path, "no .npy header with 'descr', 'fortran_order' and 'shape'");
  auto type = typeOf(*descr);
  if (!type)
    return bad(path, "element type " + std::string(*descr) +
                         " is not supported; expected one of <f4 <f8 <f2 <i8 <i4 |u1 |b1");
  if (*order != "False")
    return bad(path, "column-major order is not supported; save numpy.ascontiguousarray(x)");
  auto dimensions = shapeOf(*shape);
  if (!dimensions)
    return bad(path, "malformed shape " + std::string(*shape));
  const auto bytes = bytesOf(*dimensions, *type);
  const std::int64_t there = file.size() - begin;
  if (!bytes || *bytes != static_cast<std::size_t>(there))
    return bad(path, "shape " + describe(*dimensions) + " of " +
                         std::string(core::elementName(*type)) +
                         " does not fit the file: expected " +
                         (bytes ? std::to_string(*bytes) : "more than any file's") +
                         " bytes of values, got " + std::to_string(there));
  elementType = *type;
  extents = std::move(*dimensions);
  return Status::ok();
}

Result<NpyFile> NpyFile::open(const std::string &path) {
  SYNCLINE_TRY_GET(opened, InputFile::open(path));
  SYNCLINE_TRY_GET(place, findHeader(*opened));
  NpyFile npy;
  npy.file = std::move(*opened);
  npy.begin = place->prefix + place->length;
  std::string header(static_cast<std::size_t>(place->length), ' ');
  SYNCLINE_TRY(npy.file.read(place->prefix, std::as_writable_bytes(std::span(header))));
  SYNCLINE_TRY(npy.parse(header));
  return npy;
}

Status NpyFile::read(std::int64_t first, std::int64_t count, std::byte *to) const {
  const std::int64_t element = core::elementBytes(elementType);
  return file.read(begin + first * element, {to, static_cast<std::size_t>(count * element)});
}

Status writeNpy(const std::string &path, ElementType type, const Shape &shape, const void *data) {
  std::string dims;
  for (std::int64_t extent : shape)
    dims += std::to_string(extent) + ", ";
  if (shape.size() > 1)
    dims.resize(dims.size() - 2);
  else if (shape.size() == 1)
    dims.pop_back();
  std::string header = std::string("{'descr': '") + descrOf(type) +
                       "', 'fortran_order': False, 'shape': (" + dims + "), }";
  // The header ends with a newline, and values begin at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string start(magic);
  start += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  start += header;

  const std::size_t bytes = core::elementCount(shape) * core::elementBytes(type);
  return writeWholeFile(path, [&](std::ostream &out) {
    out << start;
    out.write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
    return Status::ok();
  });
}

} // namespace syncline::data

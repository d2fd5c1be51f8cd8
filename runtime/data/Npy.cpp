// Reading and writing .npy files.
#include "runtime/data/Npy.h"

#include "runtime/core/StepTypes.h"
#include "syncline/OutputFile.h"

#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <ostream>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace syncline::data {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

Status bad(const std::string &path, const std::string &what) {
  return Status::badInput("'" + path + "': " + what);
}

Result<Array> mapFile(const std::string &path, std::size_t &size) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return bad(path, std::string("cannot open: ") + std::strerror(errno));
  struct stat info{};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return bad(path, "not a file");
  }
  size = static_cast<std::size_t>(info.st_size);
  if (size == 0) {
    ::close(fd);
    return bad(path, "the file is empty");
  }
  void *data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  if (data == MAP_FAILED)
    return bad(path, std::string("cannot map: ") + std::strerror(errno));
  Array array;
  array.path = path;
  array.data = static_cast<const std::byte *>(data);
  array.owner = std::shared_ptr<const void>(
      data, [size](const void *p) { munmap(const_cast<void *>(p), size); });
  return array;
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

Status parse(Array &array, std::size_t size) {
  const std::string &path = array.path;
  std::string_view file(reinterpret_cast<const char *>(array.data), size);
  if (!file.starts_with(magic) || size < 10)
    return bad(path, "not a .npy file");
  int version = file[6];
  if (version < 1 || version > 3)
    return bad(path, ".npy version " + std::to_string(version) + " is not supported");
  std::size_t prefix = version == 1 ? 10 : 12, length = 0;
  if (size < prefix)
    return bad(path, "the file is cut off in its header");
  for (std::size_t i = prefix - 1; i >= 8; --i)
    length = length << 8 | static_cast<unsigned char>(file[i]);
  if (length > size - prefix)
    return bad(path, "the file is cut off in its header");
  std::string_view header = file.substr(prefix, length);
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
  auto extents = shapeOf(*shape);
  if (!extents)
    return bad(path, "malformed shape " + std::string(*shape));
  auto bytes = bytesOf(*extents, *type);
  if (!bytes || *bytes != size - prefix - length)
    return bad(path, "shape " + describe(*extents) + " of " +
                         std::string(core::elementName(*type)) +
                         " does not fit the file: expected " +
                         (bytes ? std::to_string(*bytes) : "more than any file's") +
                         " bytes of values, got " + std::to_string(size - prefix - length));
  array.type = *type;
  array.shape = *extents;
  array.data += prefix + length;
  return Status::ok();
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

} // namespace

Result<Array> openNpy(const std::string &path) {
  std::size_t size = 0;
  Result<Array> array = mapFile(path, size);
  if (!array)
    return array;
  if (Status s = parse(*array, size); !s)
    return s;
  return array;
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

// A protobuf writer for one kind of message.
#include "runtime/run/weights/OnnxRecord.h"

namespace syncline::run {
namespace {

void varint(std::string &out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

enum class Wire { varint = 0, bytes = 2 };

void key(std::string &out, int field, Wire wire) {
  varint(out, static_cast<std::uint64_t>(field) << 3 | static_cast<unsigned>(wire));
}

/// The key and the length of a field. Its content follows and need not be part of the
/// returned text.
std::string open(int field, std::size_t contentBytes) {
  std::string out;
  key(out, field, Wire::bytes);
  varint(out, contentBytes);
  return out;
}

} // namespace

int onnxDataType(ElementType type) {
  switch (type) {
  case ElementType::f32:
    return 1;
  case ElementType::u8:
    return 2;
  case ElementType::i32:
    return 6;
  case ElementType::i64:
    return 7;
  case ElementType::f16:
    return 10;
  case ElementType::f64:
    return 11;
  case ElementType::bf16:
    return 16;
  }
  return 0;
}

std::string onnxRecordHead(std::string_view name, ElementType type, const Shape &shape,
                           std::size_t valueBytes) {
  std::string tensor;
  for (std::int64_t extent : shape) {
    key(tensor, 1, Wire::varint);
    varint(tensor, static_cast<std::uint64_t>(extent));
  }
  key(tensor, 2, Wire::varint);
  varint(tensor, static_cast<std::uint64_t>(onnxDataType(type)));
  key(tensor, 8, Wire::bytes);
  varint(tensor, name.size());
  tensor += name;
  tensor += open(9, valueBytes);

  std::string initializer = open(5, tensor.size() + valueBytes) + tensor;
  return open(7, initializer.size() + valueBytes) + initializer;
}

} // namespace syncline::run

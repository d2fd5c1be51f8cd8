// A protobuf reader for the messages on the way to a tensor's values.
#include "runtime/run/weights/OnnxValues.h"

#include "runtime/data/Array.h"
#include "runtime/run/weights/OnnxRecord.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

namespace syncline::run {
namespace {

/// A field of a protobuf message: a number, or bytes.
struct WireField {
  std::uint64_t number = 0, value = 0;
  std::string_view bytes;
};

/// Takes a varint from the front. Returns false where the text ends within it.
bool takeVarint(std::string_view &text, std::uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

bool takeBytes(std::string_view &text, std::uint64_t count, std::string_view &bytes) {
  if (count > text.size())
    return false;
  bytes = text.substr(0, count);
  text.remove_prefix(count);
  return true;
}

/// Calls use(field) for every field. Returns false where the text is no message or `use` fails.
bool forEachField(std::string_view text, const std::function<bool(const WireField &)> &use) {
  while (!text.empty()) {
    std::uint64_t key = 0, size = 0;
    if (!takeVarint(text, key))
      return false;
    WireField field{key >> 3, 0, {}};
    bool isRead = false;
    switch (key & 7) {
    case 0:
      isRead = takeVarint(text, field.value);
      break;
    case 1:
      isRead = takeBytes(text, 8, field.bytes);
      break;
    case 2:
      isRead = takeVarint(text, size) && takeBytes(text, size, field.bytes);
      break;
    case 5:
      isRead = takeBytes(text, 4, field.bytes);
      break;
    }
    if (!isRead || field.number == 0 || !use(field))
      return false;
  }
  return true;
}

} // namespace

bool isOnnxModel(std::string_view content) {
  bool hasNodes = false;
  const auto seeNode = [&](const WireField &field) {
    hasNodes = hasNodes || field.number == 1;
    return true;
  };
  return forEachField(content,
                      [&](const WireField &field) {
                        return field.number != 7 || forEachField(field.bytes, seeNode);
                      }) &&
         hasNodes;
}

bool OnnxValues::readTensor(std::string_view tensor) {
  Value value;
  std::string name;
  const bool isRead = forEachField(tensor, [&](const WireField &field) {
    switch (field.number) {
    case 1: { // dims, packed or not
      if (field.bytes.empty()) {
        value.shape.push_back(static_cast<std::int64_t>(field.value));
        return true;
      }
      std::string_view packed = field.bytes;
      for (std::uint64_t extent = 0; !packed.empty();) {
        if (!takeVarint(packed, extent))
          return false;
        value.shape.push_back(static_cast<std::int64_t>(extent));
      }
      return true;
    }
    case 2:
      value.type = static_cast<std::int64_t>(field.value);
      return true;
    case 4:
      value.floats = field.bytes;
      return true;
    case 8:
      name = field.bytes;
      return true;
    case 9:
      value.raw = field.bytes;
      return true;
    case 14:
      value.isElsewhere = field.value == 1;
      return true;
    default:
      return true;
    }
  });
  if (isRead)
    values[name] = std::move(value);
  return isRead;
}

bool OnnxValues::readGraph(std::string_view graph) {
  return forEachField(graph, [this](const WireField &field) {
    return field.number != 5 || readTensor(field.bytes);
  });
}

Result<OnnxValues> OnnxValues::read(const std::string &path) {
  OnnxValues made;
  made.path = path;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error); // an error for a folder
  if (error)
    return Status::badInput("'" + path + "': cannot read: " + error.message());
  made.content.resize(size);
  std::ifstream in(path, std::ios::binary);
  in.read(made.content.data(), static_cast<std::streamsize>(size));
  if (!in)
    return Status::badInput("'" + path + "': cannot read: " + std::strerror(errno));
  bool hasGraph = false;
  const bool isRead = forEachField(made.content, [&](const WireField &field) {
    hasGraph = hasGraph || field.number == 7;
    return field.number != 7 || made.readGraph(field.bytes);
  });
  if (!isRead || !hasGraph)
    return Status::badInput("'" + path + "': expected an ONNX model");
  return made;
}

Status OnnxValues::copy(const std::string &name, ElementType type, const Shape &shape,
                        std::span<std::byte> dense) const {
  const auto bad = [&](const std::string &what) {
    return Status::badInput("'" + path + "': tensor '" + name + "': " + what);
  };
  const auto found = values.find(name);
  if (found == values.end())
    return Status::badInput("'" + path + "': expected values of '" + name + "', got none");
  const Value &value = found->second;
  if (value.shape != shape)
    return bad("expected shape " + data::describe(shape) + ", got " + data::describe(value.shape));
  if (value.type != onnxDataType(type))
    return bad("expected ONNX's data type " + std::to_string(onnxDataType(type)) + ", got " +
               std::to_string(value.type));
  if (value.isElsewhere)
    return bad("its values lie in another file, expected them in this one");
  const std::string_view from =
      value.raw.empty() && type == ElementType::f32 ? value.floats : value.raw;
  if (from.size() != dense.size())
    return bad("expected " + std::to_string(dense.size()) + " bytes of values, got " +
               std::to_string(from.size()));
  std::memcpy(dense.data(), from.data(), from.size());
  return Status::ok();
}

} // namespace syncline::run

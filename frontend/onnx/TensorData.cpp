// Checks and streams TensorProto values.
#include "frontend/onnx/TensorData.h"
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/ExternalData.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <fstream>
#include <vector>

using namespace syncline;
using namespace syncline::frontend;
using onnx::TensorProto;

bool frontend::isSaneShape(nn::DimsRef dims, std::int64_t least) {
  std::int64_t count = 1;
  for (std::int64_t d : dims) {
    if (d < least || d > maxElements)
      return false;
    if (d != 0 && count > maxElements / d)
      return false;
    count *= d;
  }
  return true;
}

static std::string quoted(const TensorProto &proto) { return "tensor '" + proto.name() + "'"; }

/// How many values the type's own field holds (onnx.proto says which field a type uses).
static std::int64_t typedCount(const TensorProto &proto) {
  switch (proto.data_type()) {
  case TensorProto::FLOAT:
    return proto.float_data_size();
  case TensorProto::DOUBLE:
    return proto.double_data_size();
  case TensorProto::INT64:
    return proto.int64_data_size();
  case TensorProto::UINT64:
  case TensorProto::UINT32:
    return proto.uint64_data_size();
  default:
    return proto.int32_data_size();
  }
}

static Status checkInline(const TensorProto &proto, std::int64_t count, std::int64_t bytes) {
  if (proto.has_raw_data()) {
    auto actual = static_cast<std::int64_t>(proto.raw_data().size());
    if (actual != bytes)
      return Status::badInput(quoted(proto) + ": expected " + std::to_string(bytes) +
                              " bytes of values, got " + std::to_string(actual));
    return Status::ok();
  }
  if (typedCount(proto) != count)
    return Status::badInput(quoted(proto) + ": expected " + std::to_string(count) +
                            " values, got " + std::to_string(typedCount(proto)));
  return Status::ok();
}

Result<TensorData> frontend::checkShape(const TensorProto &proto) {
  TensorData data;
  data.proto = &proto;
  data.type = proto.data_type();
  data.dims.assign(proto.dims().begin(), proto.dims().end());
  std::int64_t width = elementBytes(data.type);
  if (width == 0)
    return Status::badInput(quoted(proto) + ": " + elementName(data.type) + " is not supported");
  if (!isSaneShape(data.dims))
    return Status::badInput(quoted(proto) + ": shape " + nn::toString(data.dims) +
                            " is negative or too large");
  data.bytes = nn::elementCount(data.dims) * width;
  data.isAbsent = true;
  return data;
}

Result<TensorData> frontend::checkTensor(const TensorProto &proto, const DataFolders &folders) {
  SYNCLINE_TRY_GET(data, checkShape(proto));
  data->isAbsent = false;
  if (proto.has_segment())
    return Status::badInput(quoted(proto) + ": values in segments are not supported");
  if (proto.data_location() != TensorProto::EXTERNAL) {
    Status status = checkInline(proto, nn::elementCount(data->dims), data->bytes);
    return status ? std::move(data) : status;
  }
  Result<ExternalSlice> slice = locateExternal(proto, folders, data->bytes);
  if (!slice)
    return Status::badInput(quoted(proto) + ": " + slice.status().message());
  data->file = slice->file;
  data->position = slice->position;
  return data;
}

static Status streamFile(const TensorData &data, llvm::function_ref<void(llvm::StringRef)> sink) {
  std::ifstream in(data.file, std::ios::binary);
  in.seekg(data.position);
  std::vector<char> chunk(std::min<std::int64_t>(data.bytes, 1 << 20));
  for (std::int64_t left = data.bytes; left > 0;) {
    auto size = std::min<std::int64_t>(left, static_cast<std::int64_t>(chunk.size()));
    if (!in.read(chunk.data(), size))
      return Status::badInput("cannot read '" + data.file + "', values of " + quoted(*data.proto));
    sink({chunk.data(), static_cast<size_t>(size)});
    left -= size;
  }
  return Status::ok();
}

template <typename Field>
static void streamField(const Field &field, llvm::function_ref<void(llvm::StringRef)> sink) {
  sink({reinterpret_cast<const char *>(field.data()), field.size() * sizeof(*field.data())});
}

/// A field that holds narrower types one a value; their low bytes are the raw form.
template <typename Field>
static void streamNarrow(const Field &field, std::int64_t width,
                         llvm::function_ref<void(llvm::StringRef)> sink) {
  for (auto value : field)
    sink({reinterpret_cast<const char *>(&value), static_cast<size_t>(width)});
}

Status frontend::streamTensor(const TensorData &data,
                              llvm::function_ref<void(llvm::StringRef)> sink) {
  const TensorProto &proto = *data.proto;
  if (data.isAbsent)
    return Status::badInput(quoted(proto) + ": the file lacks its values");
  if (!data.file.empty())
    return streamFile(data, sink);
  if (proto.has_raw_data())
    sink(proto.raw_data());
  else if (data.type == TensorProto::FLOAT)
    streamField(proto.float_data(), sink);
  else if (data.type == TensorProto::DOUBLE)
    streamField(proto.double_data(), sink);
  else if (data.type == TensorProto::INT64)
    streamField(proto.int64_data(), sink);
  else if (data.type == TensorProto::UINT64 || data.type == TensorProto::UINT32)
    streamNarrow(proto.uint64_data(), elementBytes(data.type), sink);
  else
    streamNarrow(proto.int32_data(), elementBytes(data.type), sink);
  return Status::ok();
}

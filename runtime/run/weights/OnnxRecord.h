// Writing ONNX records. Protobuf messages can be concatenated, so a model with trained values is
// the model without values followed by one record for each tensor.
#pragma once

#include "syncline/Status.h"
#include "syncline/Step.h"

#include <string>
#include <string_view>

namespace syncline::run {

/// The part of a ModelProto record that precedes the values: ModelProto.graph (7) {
/// GraphProto.initializer (5) { dims (1), data_type (2), name (8), raw_data (9) } } The raw
/// little-endian values of `valueBytes` bytes follow the head and complete the record.
std::string onnxRecordHead(std::string_view name, ElementType type, const Shape &shape,
                           std::size_t valueBytes);

/// The number of the type in TensorProto.DataType.
int onnxDataType(ElementType type);

/// Size of the largest protobuf message.
inline constexpr std::uint64_t largestOnnxBytes = (std::uint64_t{1} << 31) - 1;

} // namespace syncline::run

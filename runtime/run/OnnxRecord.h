// ONNX on the wire: protobuf messages concatenate, so a model with trained values is the model
// without values followed by one record for each tensor.
#pragma once

#include "syncline/Status.h"
#include "syncline/Step.h"

#include <span>
#include <string>
#include <string_view>

namespace syncline {

/// All of a ModelProto's record that comes before the values themselves:
///   ModelProto.graph (7) { GraphProto.initializer (5) { dims (1), data_type (2), name (8),
///   raw_data (9) } }
/// The raw little-endian values of `valueBytes` bytes follow it and end all four.
std::string onnxRecordHead(std::string_view name, ElementType type, const Shape &shape,
                           std::size_t valueBytes);

/// Largest protobuf message.
inline constexpr std::uint64_t largestOnnxBytes = (std::uint64_t{1} << 31) - 1;

} // namespace syncline

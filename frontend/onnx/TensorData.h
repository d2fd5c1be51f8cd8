// A tensor's values as an ONNX file stores them: inline in one of several fields, or in a file
// beside the model.
#pragma once

#include "frontend/onnx/ExternalData.h"
#include "ir/nn/Shapes.h"
#include "syncline/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace onnx {
class TensorProto;
}

namespace syncline::frontend {

/// No tensor has more elements: a bound that keeps sizes in bytes far from overflow.
inline constexpr std::int64_t maxElements = std::int64_t(1) << 40;

/// Whether all dimensions are at least `least` and their product is at most maxElements.
bool isSaneShape(nn::DimsRef dims, std::int64_t least = 0);

/// A checked TensorProto. Refers to the proto, which must stay alive and in place.
struct TensorData {
  const onnx::TensorProto *proto = nullptr;
  int type = 0; ///< TensorProto.DataType
  nn::Dims dims;
  std::int64_t bytes = 0;    ///< dense size
  std::string file;          ///< external data: the file, resolved and checked; else empty
  std::int64_t position = 0; ///< in `file`
  bool isAbsent = false;     ///< only type and shape are known
};

/// Checks type, shape and size of a tensor's values. External data must lie where locateExternal()
/// finds it. The message names the tensor but not the model.
Result<TensorData> checkTensor(const onnx::TensorProto &proto, const DataFolders &folders);

/// Checks type and shape alone. The result has no values: streamTensor() fails.
Result<TensorData> checkShape(const onnx::TensorProto &proto);

/// Hands the values, dense little-endian, to `sink` in one or more chunks.
Status streamTensor(const TensorData &data, llvm::function_ref<void(llvm::StringRef)> sink);

} // namespace syncline::frontend

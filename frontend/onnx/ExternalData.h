// Tensor values kept in a file beside the model.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <string>

namespace onnx {
class TensorProto;
}

namespace syncline::frontend {

struct ExternalSlice {
  std::string file;
  std::int64_t position; ///< bytes from the file's start
};

/// Where the `bytes` values of a tensor with external data are. Refuses anything but a regular file
/// inside `folder`, links resolved, and slices that the file does not hold.
Result<ExternalSlice> locateExternal(const onnx::TensorProto &proto, const std::string &folder,
                                     std::int64_t bytes);

} // namespace syncline::frontend

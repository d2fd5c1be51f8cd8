// Tensor values kept in a file beside the model.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace onnx {
class TensorProto;
}

namespace syncline::frontend {

/// Where a model's external data may lie.
struct DataFolders {
  std::string named; ///< the model's folder by the path that was given; "" for the current one
  /// Those to which links lead from that path, as in caches, whose models and data are links into
  /// one folder.
  std::vector<std::string> linked;
};

/// The folders of the model at `path`, which exists.
DataFolders dataFoldersOf(const std::string &path);

/// The file of a tensor with external data. It is looked for in the named folder, then in the
/// linked ones. Refuses anything but a regular file inside the folder where it was found or, behind
/// links, directly in a linked one.
Result<std::string> findExternal(const onnx::TensorProto &proto, const DataFolders &folders);

struct ExternalSlice {
  std::string file;
  std::int64_t position; ///< bytes from the file's start
};

/// Where the `bytes` values of a tensor with external data are. Refuses what findExternal() does,
/// and slices that the file does not hold.
Result<ExternalSlice> locateExternal(const onnx::TensorProto &proto, const DataFolders &folders,
                                     std::int64_t bytes);

} // namespace syncline::frontend

// Reading the values of an ONNX file's tensors without protobuf.
#pragma once

#include "syncline/Status.h"
#include "syncline/Step.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace syncline::run {

/// Whether the bytes are a model: a message with a graph of at least one node.
bool isOnnxModel(std::string_view content);

/// The initialisers of a model, such as one that `--save` has written: GraphProto.initializer in
/// ModelProto.graph, with their values in raw_data or float_data.
class OnnxValues {
public:
  /// Errors: badInput, naming the file, when it cannot be read or is no ONNX model.
  static Result<OnnxValues> read(const std::string &path);

  /// Copies the tensor's values, dense and little endian. Errors: badInput, naming file and tensor,
  /// when the file has no such tensor, one of another type or shape, or values elsewhere.
  Status copy(const std::string &name, ElementType type, const Shape &shape,
              std::span<std::byte> dense) const;

private:
  struct Value {
    Shape shape;
    std::int64_t type = 0;        ///< TensorProto.DataType
    std::string_view raw, floats; ///< one of them is empty, or both
    bool isElsewhere = false;     ///< in another file
  };
  bool readGraph(std::string_view graph);
  bool readTensor(std::string_view tensor);

  std::string path;
  std::string content; ///< to which the values point
  std::map<std::string, Value, std::less<>> values;
};

} // namespace syncline::run

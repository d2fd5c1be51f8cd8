// The content of weights.bin: initial values of parameters and states, not copied until written.
#pragma once

#include "frontend/onnx/TensorData.h"
#include "syncline/Status.h"

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace syncline::frontend {

/// Dense row-major little-endian values, one tensor after another, each at a multiple of
/// `alignment` bytes with zeros between.
class WeightsFile {
public:
  static constexpr std::int64_t alignment = 64;

  struct Entry {
    std::string name;
    std::int64_t offset; ///< bytes from the file's start
    TensorData data;
  };

  WeightsFile();
  WeightsFile(WeightsFile &&);
  WeightsFile &operator=(WeightsFile &&);
  ~WeightsFile();

  /// Appends a tensor and returns its offset. `data` must stay valid; see `keep`.
  std::int64_t add(std::string name, const TensorData &data);
  /// Makes this object the owner of values that entries refer to.
  void keep(std::unique_ptr<onnx::TensorProto> values);

  const std::vector<Entry> &entries() const { return list; }
  /// Bytes in all.
  std::int64_t size() const { return total; }

  /// Streams the content in chunks: no tensor is copied as a whole. Fails when `out` does or when a
  /// file with external data cannot be read any more.
  Status write(std::ostream &out) const;

private:
  std::vector<std::unique_ptr<onnx::TensorProto>> owned;
  std::vector<Entry> list;
  std::int64_t total = 0;
};

} // namespace syncline::frontend

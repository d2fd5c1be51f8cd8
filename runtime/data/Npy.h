// Reading and writing NumPy's .npy files with little-endian, row-major numbers.
#pragma once

#include "runtime/data/Array.h"
#include "runtime/data/InputFile.h"

namespace syncline::data {

/// A file of format version 1 to 3 whose values are read when they are needed. Thread-safe.
class NpyFile {
public:
  /// Reads the header. Errors: badInput, naming the file, unless it is a complete .npy file of a
  /// supported type (f4 f8 f2 i8 i4 u1 and bool).
  static Result<NpyFile> open(const std::string &path);

  const std::string &path() const { return file.path(); }
  ElementType type() const { return elementType; }
  const Shape &shape() const { return extents; }
  /// Reads `count` elements from element `first` on, in the file's type. Errors: as
  /// InputFile::read() has them.
  Status read(std::int64_t first, std::int64_t count, std::byte *to) const;
  /// See InputFile::letGo().
  void letGo() { file.letGo(); }

private:
  Status parse(const std::string &header);
  InputFile file;
  ElementType elementType = ElementType::f32;
  Shape extents;
  std::int64_t begin = 0; ///< bytes before the first value
};

/// Writes a dense row-major array, completely or not at all.
Status writeNpy(const std::string &path, ElementType type, const Shape &shape, const void *data);

} // namespace syncline::data

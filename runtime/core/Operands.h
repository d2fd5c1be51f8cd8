// Asks about the operands of an operation that is being prepared, and says what is wrong with them.
#pragma once

#include "runtime/core/StepTable.h"

#include <initializer_list>
#include <string>

namespace syncline {

/// Thrown by code that prepares an operation; its backend's builder catches it and makes it the
/// sticky error, with the operation's and the layer's name.
struct PreparationError {
  ErrorKind kind;
  std::string message;
};

/// Operands by handle. All functions fail, by a PreparationError of badInput, for a handle that was
/// not declared.
class Operands {
public:
  explicit Operands(const StepTable &table) : table(table) {}

  const StepTensor &info(Tensor tensor) const;
  const Shape &shape(Tensor tensor) const { return info(tensor).shape; }
  std::int64_t count(Tensor tensor) const { return elementCount(shape(tensor)); }
  std::int64_t rank(Tensor tensor) const { return static_cast<std::int64_t>(shape(tensor).size()); }

  /// Fails unless the tensor is of one of the types.
  void expectType(Tensor tensor, std::initializer_list<ElementType> types) const;
  /// Fails unless the tensor has this shape, or the other's shape and type.
  void expectShape(Tensor tensor, const Shape &wanted) const;
  void expectLike(Tensor tensor, Tensor other) const;
  /// Fails unless the tensor has so many elements.
  void expectCount(Tensor tensor, std::int64_t wanted) const;
  /// The axis counted from 0; fails unless it is one of the tensor's dimensions.
  std::int64_t expectAxis(Tensor tensor, std::int64_t axis) const;
  /// Only what has been written may be read.
  [[noreturn]] void failUnwritten(Tensor tensor) const {
    fail("reads '" + info(tensor).name + "' before it is written");
  }

  [[noreturn]] void fail(std::string message) const {
    throw PreparationError{ErrorKind::badInput, std::move(message)};
  }

protected:
  const StepTable &table;
};

/// "[2, 3]".
std::string shapeText(const Shape &shape);

} // namespace syncline

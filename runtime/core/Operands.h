// Looks up and checks the operands of an operation that is being prepared.
#pragma once

#include "runtime/core/StepTable.h"

#include <initializer_list>
#include <string>

namespace syncline::core {

/// Thrown by code that prepares an operation. The backend's builder catches it and keeps it as the
/// sticky error, with the names of the operation and the layer.
struct PreparationError {
  ErrorKind kind;
  std::string message;
};

/// Operands by handle. All functions throw a PreparationError (badInput) for a handle that was
/// not declared.
class Operands {
public:
  explicit Operands(const StepTable &table) : table(table) {}

  const StepTensor &info(Tensor tensor) const;
  const Shape &shape(Tensor tensor) const { return info(tensor).shape; }
  std::int64_t count(Tensor tensor) const { return elementCount(shape(tensor)); }
  std::int64_t rank(Tensor tensor) const { return static_cast<std::int64_t>(shape(tensor).size()); }

  /// Fails unless the tensor has one of the types.
  void expectType(Tensor tensor, std::initializer_list<ElementType> types) const;
  /// Fails unless the tensor has this shape, or the shape and type of the other tensor.
  void expectShape(Tensor tensor, const Shape &wanted) const;
  void expectLike(Tensor tensor, Tensor other) const;
  /// Fails unless the tensor has `wanted` elements.
  void expectCount(Tensor tensor, std::int64_t wanted) const;
  /// Returns the axis counted from 0. Fails unless it is one of the tensor's dimensions.
  std::int64_t expectAxis(Tensor tensor, std::int64_t axis) const;
  /// Fails because the operation reads a tensor that no earlier operation has written.
  [[noreturn]] void failUnwritten(Tensor tensor) const {
    fail("reads '" + info(tensor).name + "' before it is written");
  }

  [[noreturn]] void fail(std::string message) const {
    throw PreparationError{ErrorKind::badInput, std::move(message)};
  }

protected:
  const StepTable &table;
};

/// The shape as text: "[2, 3]".
std::string shapeText(const Shape &shape);

} // namespace syncline::core

// Error messages about operands.
#include "runtime/core/Operands.h"

#include <algorithm>

namespace syncline::core {

std::string shapeText(const Shape &shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

const StepTensor &Operands::info(Tensor tensor) const {
  if (!table.isDeclared(tensor))
    fail("an operand is not declared");
  return table.of(tensor);
}

void Operands::expectType(Tensor tensor, std::initializer_list<ElementType> types) const {
  const StepTensor &own = info(tensor);
  if (std::find(types.begin(), types.end(), own.type) != types.end())
    return;
  std::string expected;
  for (ElementType type : types)
    expected += (expected.empty() ? "" : " or ") + std::string(elementName(type));
  fail("'" + own.name + "': expected element type " + expected + ", got " +
       std::string(elementName(own.type)));
}

void Operands::expectShape(Tensor tensor, const Shape &wanted) const {
  if (shape(tensor) != wanted)
    fail("'" + info(tensor).name + "': expected shape " + shapeText(wanted) + ", got " +
         shapeText(shape(tensor)));
}

void Operands::expectLike(Tensor tensor, Tensor other) const {
  expectType(tensor, {info(other).type});
  expectShape(tensor, shape(other));
}

void Operands::expectCount(Tensor tensor, std::int64_t wanted) const {
  if (count(tensor) != wanted)
    fail("'" + info(tensor).name + "': expected " + std::to_string(wanted) + " elements, got " +
         std::to_string(count(tensor)));
}

std::int64_t Operands::expectAxis(Tensor tensor, std::int64_t axis) const {
  const std::int64_t counted = axis < 0 ? axis + rank(tensor) : axis;
  if (counted < 0 || counted >= rank(tensor))
    fail("'" + info(tensor).name + "': expected an axis of " + std::to_string(rank(tensor)) +
         " dimensions, got " + std::to_string(axis));
  return counted;
}

} // namespace syncline::core

// Sizes and names of element types.
#include "runtime/core/StepTypes.h"

namespace syncline::core {

std::int64_t SpaceSizes::of(Space space) const {
  switch (space) {
  case Space::input:
    return input;
  case Space::target:
    return target;
  case Space::parameters:
    return parameters;
  case Space::gradients:
    return gradients;
  case Space::state:
    return state;
  case Space::arena:
    return arena;
  }
  return 0;
}

std::int64_t elementBytes(ElementType type) {
  switch (type) {
  case ElementType::f64:
  case ElementType::i64:
    return 8;
  case ElementType::f32:
  case ElementType::i32:
    return 4;
  case ElementType::f16:
  case ElementType::bf16:
    return 2;
  case ElementType::u8:
    return 1;
  }
  return 0;
}

std::int64_t elementCount(const Shape &shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape)
    count *= extent;
  return count;
}

std::string_view elementName(ElementType type) {
  switch (type) {
  case ElementType::f32:
    return "f32";
  case ElementType::f64:
    return "f64";
  case ElementType::f16:
    return "f16";
  case ElementType::bf16:
    return "bf16";
  case ElementType::i64:
    return "i64";
  case ElementType::i32:
    return "i32";
  case ElementType::u8:
    return "u8";
  }
  return "unknown";
}

} // namespace syncline::core

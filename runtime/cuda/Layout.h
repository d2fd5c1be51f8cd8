// How a tensor lies in the device's memory: order and type of its elements, without gaps, so that
// every layout of a tensor fills at most the bytes of its dense form.
#pragma once

#include "runtime/core/StepTypes.h"

#include <span>
#include <string>
#include <vector>

namespace syncline::cuda {

struct Layout {
  ElementType type = ElementType::f32;
  bool isChannelsLast = false; ///< dimension 1 innermost; otherwise row-major

  bool operator==(const Layout &) const = default;
};

/// Row-major, of the declared type: what programs outside see.
Layout denseLayout(const StepTensor &tensor);

/// The same layout, called row-major where both orders are one: other than 3 to 5 dimensions, one
/// channel or one position.
Layout normalized(const Layout &layout, const Shape &shape);

/// In elements.
Shape stridesOf(const Layout &layout, const Shape &shape);

/// What a convolution or product of this precision is computed in, the best first: a library may
/// lack kernels for the first ones.
std::vector<Layout> convolutionLayouts(Precision precision);
/// What operands of a product of matrices are rounded to.
ElementType productType(Precision precision);

/// Bytes of all elements.
std::int64_t layoutBytes(const Layout &layout, const Shape &shape);

/// On the host: the tensor's dense form of what lies in a layout, and back. `stored` has
/// layoutBytes(), `dense` the dense bytes.
void toDense(const StepTensor &tensor, const Layout &layout, std::span<const std::byte> stored,
             std::span<std::byte> dense);
void fromDense(const StepTensor &tensor, const Layout &layout, std::span<const std::byte> dense,
               std::span<std::byte> stored);

/// "bf16 channels-last".
std::string describe(const Layout &layout);

} // namespace syncline::cuda

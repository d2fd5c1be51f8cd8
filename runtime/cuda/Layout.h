// Layouts of tensors in device memory: the order and type of the elements, without gaps, so that no
// layout needs more bytes than the dense form.
#pragma once

#include "runtime/core/Executable.h"

#include <span>
#include <string>
#include <vector>

namespace syncline::cuda {

struct Layout {
  ElementType type = ElementType::f32;
  bool isChannelsLast = false; ///< dimension 1 is innermost; otherwise row-major

  bool operator==(const Layout &) const = default;
};

/// The layout outside the backend: row-major, with the declared type.
Layout denseLayout(const core::StepTensor &tensor);

/// The equal layout that is marked row-major where both orders are equal: with other than 3 to 5
/// dimensions, one channel or one position.
Layout normalized(const Layout &layout, const Shape &shape);

/// The strides of the layout, in elements.
Shape stridesOf(const Layout &layout, const Shape &shape);

/// The layouts for convolutions of this precision, the best first. A library may lack kernels for
/// the first ones.
std::vector<Layout> convolutionLayouts(core::Precision precision);
/// The type to which operands of a matrix product are rounded.
ElementType productType(core::Precision precision);

/// Bytes of all elements.
std::int64_t layoutBytes(const Layout &layout, const Shape &shape);

/// Convert a tensor on the host from a layout to its dense form, and back. `stored` has
/// layoutBytes() bytes and `dense` the dense bytes.
void toDense(const core::StepTensor &tensor, const Layout &layout,
             std::span<const std::byte> stored, std::span<std::byte> dense);
void fromDense(const core::StepTensor &tensor, const Layout &layout,
               std::span<const std::byte> dense, std::span<std::byte> stored);

/// The layout as text: "bf16 channels-last".
std::string describe(const Layout &layout);

} // namespace syncline::cuda

// Computing the geometry of convolutions.
#include "runtime/cuda/dnn/ConvolutionPlan.h"

#include "runtime/core/Strides.h"
#include "runtime/cuda/Copies.h"

#include <algorithm>

namespace syncline::cuda {

namespace {

/// cuDNN does not support a single spatial dimension, so a dimension of 1 is put before it.
Shape withPlane(Shape dims, std::size_t spatial, std::int64_t value) {
  if (spatial == 1)
    dims.insert(dims.end() - 1, value);
  return dims;
}

/// The numbers with this character between them: "8x64x56x56".
std::string joined(const Shape &numbers, char between) {
  std::string text;
  for (std::int64_t number : numbers)
    text += (text.empty() ? "" : std::string(1, between)) + std::to_string(number);
  return text;
}

/// The part of the padded operand that holds x.
core::PadPart partOf(const Preparation &p, const ConvolutionPlan &plan) {
  const core::PadPart part = core::padPart(plan.given, plan.padded, plan.begins);
  if (std::any_of(part.extents.begin(), part.extents.end(), [](auto e) { return e < 1; }))
    p.fail("expected a window that reaches the operand");
  return part;
}

/// The copy of that part from x to the padded operand, or back.
struct PartCopy {
  PreparedCopy copy;
  std::int64_t inGiven, inPadded; ///< bytes before the part
};

PartCopy partCopy(const Preparation &p, const ConvolutionPlan &plan, bool toPadded) {
  const core::PadPart part = partOf(p, plan);
  const Shape ones(plan.given.size(), 1);
  const core::Walk given = core::walkOf(stridesOf(plan.layout, plan.given), part.skips, ones);
  const core::Walk padded = core::walkOf(stridesOf(plan.layout, plan.padded), part.starts, ones);
  const core::Walk &to = toPadded ? padded : given, &from = toPadded ? given : padded;
  const std::int64_t bytes = core::elementBytes(plan.layout.type);
  return {prepareCopy(p, part.extents, to.strides, from.strides, bytes,
                      static_cast<std::uint64_t>(bytes)),
          given.offset * bytes, padded.offset * bytes};
}

} // namespace

ConvolutionPlan::ConvolutionPlan(const Preparation &p, Tensor x, Tensor w, Tensor bias, Tensor y,
                                 const Window &window, const Layout &layout)
    : groups(window.groups), layout(layout), given(p.shape(x)), padded(given),
      begins(given.size(), 0) {
  core::checkConv(p, x, w, bias, y, window);
  const std::size_t spatial = window.strides.size();
  if (spatial < 1 || spatial > 3)
    p.fail("expected 1 to 3 spatial dimensions, got " + std::to_string(spatial));
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t extent = (p.shape(w)[i + 2] - 1) * window.dilations[i] + 1;
    const std::int64_t free = given[i + 2] + 2 * window.padsBegin[i] - extent;
    isPadded |= free < 0 || free / window.strides[i] + 1 != p.shape(y)[i + 2];
    padded[i + 2] = (p.shape(y)[i + 2] - 1) * window.strides[i] + extent;
    begins[i + 2] = window.padsBegin[i];
  }
  if (!isPadded)
    padded = given;
  for (Tensor tensor : {x, w, y})
    p.expectCountable(tensor);
  p.expectCountable("'" + p.info(x).name + "' with its padding", padded);
  image = {withPlane(padded, spatial, 1), layout};
  filter = {withPlane(p.shape(w), spatial, 1), layout};
  response = {withPlane(p.shape(y), spatial, 1), layout};
  this->x = describeTensor(image.dims, layout);
  this->y = describeTensor(response.dims, layout);
  this->w = describeFilter(filter.dims, layout);
  pads = withPlane(isPadded ? Shape(spatial, 0) : window.padsBegin, spatial, 0);
  strides = withPlane(window.strides, spatial, 1);
  dilations = withPlane(window.dilations, spatial, 1);
  SYNCLINE_CHECK(cudnnSetConvolutionNdDescriptor(
      convolution, static_cast<int>(pads.size()), asInts(pads).data(), asInts(strides).data(),
      asInts(dilations).data(), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  SYNCLINE_CHECK(cudnnSetConvolutionGroupCount(convolution, static_cast<int>(groups)));
  text = "x " + joined(padded, 'x') + " w " + joined(p.shape(w), 'x') + " y " +
         joined(p.shape(y), 'x') + " pads " +
         joined(isPadded ? Shape(spatial, 0) : window.padsBegin, ',') + " strides " +
         joined(window.strides, ',') + " dilations " + joined(window.dilations, ',') + " groups " +
         std::to_string(groups);
  const bool isExact = p.program.options.precision == core::Precision::fp32;
  SYNCLINE_CHECK(
      cudnnSetConvolutionMathType(convolution, isExact ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH));
}

Place<const std::byte> appendPadding(Preparation &p, const ConvolutionPlan &plan,
                                     const Place<const std::byte> &x) {
  if (!plan.isPadded)
    return x;
  const std::int64_t bytes = plan.paddedBytes();
  const auto place = p.scratchPlace<std::byte>(bytes);
  p.call("", [&program = p.program, place, bytes, x, part = partCopy(p, plan, true)] {
    SYNCLINE_CHECK(
        cudaMemsetAsync(place, 0, static_cast<std::size_t>(bytes), program.device.compute));
    part.copy.run(program.device.compute, place + part.inPadded, x + part.inGiven);
  });
  return place;
}

void appendUnpadding(Preparation &p, const ConvolutionPlan &plan,
                     const Place<const std::byte> &padded, const Place<std::byte> &dx) {
  p.call("", [&program = p.program, padded, dx, bytes = layoutBytes(plan.layout, plan.given),
              part = partCopy(p, plan, false)] {
    SYNCLINE_CHECK(
        cudaMemsetAsync(dx, 0, static_cast<std::size_t>(bytes),
                        program.device.compute)); // elements that no window reaches have gradient 0
    part.copy.run(program.device.compute, dx + part.inGiven, padded + part.inPadded);
  });
}

} // namespace syncline::cuda

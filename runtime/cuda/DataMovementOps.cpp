// Operations that move elements: concat, slice, pad, transpose, reshape, and the gather of factors.
#include "runtime/core/ElementBits.h"
#include "runtime/core/Strides.h"
#include "runtime/cuda/Copies.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

using core::Walk;

namespace {

/// Appends a copy between two walks that begin at the given places.
void appendCopy(Preparation &p, const Shape &shape, const Place<std::byte> &to,
                const Shape &toStrides, const Place<const std::byte> &from,
                const Shape &fromStrides, std::int64_t bytes) {
  p.call("copy", [&program = p.program, to, from,
                  copy = prepareCopy(p, shape, toStrides, fromStrides, bytes,
                                     std::min(to.alignment(), from.alignment()))] {
    copy.run(program.device.compute, to, from);
  });
}

/// A walk over the elements starts + i·steps of a tensor in a layout: the first element's offset in
/// bytes, and strides in elements.
Walk walkIn(const Layout &layout, const Shape &shape, const Shape &starts, const Shape &steps) {
  Walk walk = core::walkOf(stridesOf(layout, shape), starts, steps);
  walk.offset *= core::elementBytes(layout.type);
  return walk;
}

/// Appends a fill of all elements with `value`.
void appendFill(Preparation &p, Tensor tensor, ElementType type, const Place<std::byte> &to,
                double value) {
  p.call("copy", [&program = p.program, to, bits = core::elementBits(type, value),
                  bytes = core::elementBytes(type), n = p.count(tensor)] {
    SYNCLINE_CHECK(fillElements(program.device.compute, to, bits, static_cast<int>(bytes), n));
  });
}

void appendMemcpy(Preparation &p, const Place<std::byte> &to, const Place<const std::byte> &from,
                  std::int64_t bytes) {
  p.call("memcpy", [&program = p.program, to, from, bytes] {
    std::byte *const result = to;
    const std::byte *const source = from;
    if (result != source)
      SYNCLINE_CHECK(cudaMemcpyAsync(result, source, static_cast<std::size_t>(bytes),
                                     cudaMemcpyDeviceToDevice, program.device.compute));
  });
}

} // namespace

void CudaBuilder::concat(std::string_view layer, std::span<const Tensor> xs, Tensor y,
                         std::int64_t axis) {
  prepare("concat", layer, [&](Preparation &p) {
    core::checkConcat(p, xs, y, axis);
    const auto along = static_cast<std::size_t>(p.expectAxis(y, axis));
    Layout layout = p.layout(xs[0]);
    for (Tensor x : xs)
      if (p.layout(x).isChannelsLast)
        layout = p.layout(x);
    const Shape strides = stridesOf(layout, p.shape(y));
    const std::int64_t bytes = core::elementBytes(layout.type);
    const auto to = p.output<std::byte>(y, layout);
    std::int64_t begin = 0;
    for (Tensor x : xs) {
      appendCopy(p, p.shape(x), to.after(begin * strides[along] * bytes), strides,
                 p.input<std::byte>(x, layout), stridesOf(layout, p.shape(x)), bytes);
      begin += p.shape(x)[along];
    }
  });
}

void CudaBuilder::slice(std::string_view layer, Tensor x, Tensor y, const Shape &starts,
                        const Shape &steps) {
  prepare("slice", layer, [&](Preparation &p) {
    core::checkSlice(p, x, y, starts, steps);
    const Layout layout = p.layout(x);
    const Walk walk = walkIn(layout, p.shape(x), starts, steps);
    const auto from = p.input<std::byte>(x, layout).after(walk.offset);
    appendCopy(p, p.shape(y), p.output<std::byte>(y, layout), stridesOf(layout, p.shape(y)), from,
               walk.strides, core::elementBytes(layout.type));
  });
}

void CudaBuilder::sliceBackward(std::string_view layer, Tensor dy, Tensor dx, const Shape &starts,
                                const Shape &steps) {
  prepare("sliceBackward", layer, [&](Preparation &p) {
    core::checkSlice(p, dx, dy, starts, steps);
    const Layout layout = p.layout(dy);
    const Walk walk = walkIn(layout, p.shape(dx), starts, steps);
    const auto from = p.input<std::byte>(dy, layout);
    const auto to = p.output<std::byte>(dx, layout);
    appendFill(p, dx, layout.type, to, 0);
    appendCopy(p, p.shape(dy), to.after(walk.offset), walk.strides, from,
               stridesOf(layout, p.shape(dy)), core::elementBytes(layout.type));
  });
}

void CudaBuilder::pad(std::string_view layer, Tensor x, Tensor y, const Shape &begins,
                      double value) {
  prepare("pad", layer, [&](Preparation &p) {
    core::checkPad(p, x, y, begins);
    const Layout layout = p.layout(x);
    const core::PadPart part = core::padPart(p.shape(x), p.shape(y), begins);
    const Shape ones(begins.size(), 1);
    const Walk from = walkIn(layout, p.shape(x), part.skips, ones);
    const Walk to = walkIn(layout, p.shape(y), part.starts, ones);
    const auto source = p.input<std::byte>(x, layout).after(from.offset);
    const auto result = p.output<std::byte>(y, layout);
    appendFill(p, y, layout.type, result, value);
    appendCopy(p, part.extents, result.after(to.offset), to.strides, source, from.strides,
               core::elementBytes(layout.type));
  });
}

void CudaBuilder::transpose(std::string_view layer, Tensor x, Tensor y, const Shape &permutation) {
  prepare("transpose", layer, [&](Preparation &p) {
    core::checkTranspose(p, x, y, permutation);
    const Layout layout = p.layout(x);
    const Layout plain{layout.type, false};
    const auto from = p.input<std::byte>(x, layout);
    appendCopy(p, p.shape(y), p.output<std::byte>(y, plain), core::denseStrides(p.shape(y)), from,
               core::permuted(stridesOf(layout, p.shape(x)), permutation),
               core::elementBytes(layout.type));
  });
}

void CudaBuilder::reshape(std::string_view layer, Tensor x, Tensor y) {
  prepare("reshape", layer, [&](Preparation &p) {
    core::checkReshape(p, x, y);
    const Layout layout = p.layout(x);
    const bool isCopy = p.shape(x) == p.shape(y);
    const Layout wanted{layout.type, isCopy && layout.isChannelsLast};
    const auto from = p.input<std::byte>(x, layout);
    const auto to = p.output<std::byte>(y, wanted);
    if (layout == wanted)
      appendMemcpy(p, to, from, layoutBytes(layout, p.shape(x)));
    else
      p.call("copy", [&program = program, to, from,
                      conversion = Conversion(p, p.shape(x), wanted, layout,
                                              std::min(to.alignment(), from.alignment()))] {
        conversion.run(program.device.compute, to, from);
      });
  });
}

core::GatherPart CudaBuilder::gatherOne(Preparation &p, Tensor in, Tensor out) {
  const std::int64_t bytes = p.count(in) * core::elementBytes(p.info(in).type);
  const auto own = p.input<std::byte>(in);
  p.layOut(out, p.dense(out));
  if (p.layout(out) != p.dense(out))
    p.fail("'" + p.info(out).name + "': expected no other use before it is gathered");
  std::byte *const all = p.output<std::byte>(out);
  appendMemcpy(p, Place<std::byte>(all + program.options.rank * bytes), own, bytes);
  return {all, bytes, p.info(in).type};
}

} // namespace syncline::cuda

// Operations that move elements: concat, slice, pad, transpose, reshape, gather of factors.
#include "runtime/core/ElementBits.h"
#include "runtime/cuda/Copies.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Kernels.h"

namespace syncline::cuda {

namespace {

/// Appends a copy between two walks, `toAt` and `fromAt` bytes into two operands.
void appendCopy(Preparation &p, const Shape &shape, std::byte *to, const Shape &toStrides,
                const std::byte *from, const Shape &fromStrides, std::int64_t bytes) {
  p.call("copy", [&program = p.program, to, from,
                  copy = prepareCopy(p, shape, toStrides, fromStrides, bytes,
                                     commonAlignment({to, from}))] {
    copy.run(program.device.compute, to, from);
  });
}

/// Appends `value` as every element.
void appendFill(Preparation &p, Tensor tensor, std::byte *to, double value) {
  const ElementType type = p.info(tensor).type;
  p.call("copy", [&program = p.program, to, bits = elementBits(type, value),
                  bytes = elementBytes(type), n = p.count(tensor)] {
    check(fillElements(program.device.compute, to, bits, static_cast<int>(bytes), n),
          "fillElements");
  });
}

void appendMemcpy(Preparation &p, std::byte *to, const std::byte *from, std::int64_t bytes) {
  p.call("memcpy", [&program = p.program, to, from, bytes] {
    if (to != from)
      check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                            program.device.compute),
            "cudaMemcpyAsync");
  });
}

} // namespace

void CudaBuilder::concat(std::string_view layer, std::span<const Tensor> xs, Tensor y,
                         std::int64_t axis) {
  prepare("concat", layer, [&](Preparation &p) {
    checkConcat(p, xs, y, axis);
    const std::int64_t bytes = elementBytes(p.info(y).type);
    const AxisView whole = aroundAxis(p.shape(y), axis);
    std::byte *to = p.output<std::byte>(y);
    for (Tensor x : xs) {
      const std::int64_t run = aroundAxis(p.shape(x), axis).extent * whole.inner;
      appendCopy(p, {whole.outer, run}, to, {whole.extent * whole.inner, 1}, p.input<std::byte>(x),
                 {run, 1}, bytes);
      to += run * bytes;
    }
  });
}

void CudaBuilder::slice(std::string_view layer, Tensor x, Tensor y, const Shape &starts,
                        const Shape &steps) {
  prepare("slice", layer, [&](Preparation &p) {
    checkSlice(p, x, y, starts, steps);
    const std::int64_t bytes = elementBytes(p.info(x).type);
    const Walk walk = walkOf(p.shape(x), starts, steps);
    const std::byte *from = p.input<std::byte>(x) + walk.offset * bytes;
    appendCopy(p, p.shape(y), p.output<std::byte>(y), denseStrides(p.shape(y)), from, walk.strides,
               bytes);
  });
}

void CudaBuilder::sliceBackward(std::string_view layer, Tensor dy, Tensor dx, const Shape &starts,
                                const Shape &steps) {
  prepare("sliceBackward", layer, [&](Preparation &p) {
    checkSlice(p, dx, dy, starts, steps);
    const std::int64_t bytes = elementBytes(p.info(dx).type);
    const Walk walk = walkOf(p.shape(dx), starts, steps);
    const std::byte *from = p.input<std::byte>(dy);
    std::byte *to = p.output<std::byte>(dx);
    appendFill(p, dx, to, 0);
    appendCopy(p, p.shape(dy), to + walk.offset * bytes, walk.strides, from,
               denseStrides(p.shape(dy)), bytes);
  });
}

void CudaBuilder::pad(std::string_view layer, Tensor x, Tensor y, const Shape &begins,
                      double value) {
  prepare("pad", layer, [&](Preparation &p) {
    checkPad(p, x, y, begins);
    const PadPart part = padPart(p.shape(x), p.shape(y), begins);
    const Shape ones(begins.size(), 1);
    const Walk from = walkOf(p.shape(x), part.skips, ones);
    const Walk to = walkOf(p.shape(y), part.starts, ones);
    const std::int64_t bytes = elementBytes(p.info(x).type);
    const std::byte *source = p.input<std::byte>(x) + from.offset * bytes;
    std::byte *result = p.output<std::byte>(y);
    appendFill(p, y, result, value);
    appendCopy(p, part.extents, result + to.offset * bytes, to.strides, source, from.strides,
               bytes);
  });
}

void CudaBuilder::transpose(std::string_view layer, Tensor x, Tensor y, const Shape &permutation) {
  prepare("transpose", layer, [&](Preparation &p) {
    checkTranspose(p, x, y, permutation);
    const std::byte *from = p.input<std::byte>(x);
    appendCopy(p, p.shape(y), p.output<std::byte>(y), denseStrides(p.shape(y)), from,
               permutedStrides(p.shape(x), permutation), elementBytes(p.info(x).type));
  });
}

void CudaBuilder::reshape(std::string_view layer, Tensor x, Tensor y) {
  prepare("reshape", layer, [&](Preparation &p) {
    checkReshape(p, x, y);
    const std::byte *from = p.input<std::byte>(x);
    appendMemcpy(p, p.output<std::byte>(y), from, p.count(x) * elementBytes(p.info(x).type));
  });
}

GatherPart CudaBuilder::gatherOne(Preparation &p, Tensor in, Tensor out) {
  const std::int64_t bytes = p.count(in) * elementBytes(p.info(in).type);
  const std::byte *own = p.input<std::byte>(in);
  std::byte *all = p.output<std::byte>(out);
  appendMemcpy(p, all + program.options.rank * bytes, own, bytes);
  return {all, bytes};
}

} // namespace syncline::cuda

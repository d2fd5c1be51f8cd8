// Operations that move elements: concat, slice, pad, transpose, reshape. Blocked tensors stay
// blocked where the parts begin and end at block edges.
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/Loops.h"

#include <algorithm>
#include <cstring>

namespace syncline::cpu {

namespace {

/// The layout of the part that begins at `starts`, or nothing when its edges cut through blocks.
std::optional<Layout> partOf(const Layout &whole, const Shape &extents, const Shape &starts) {
  if (whole.dims().size() != extents.size())
    return std::nullopt;
  try {
    return whole.submemory_desc(extents, starts);
  } catch (const dnnl::error &) {
    return std::nullopt;
  }
}

bool isUnitStep(const Shape &steps) {
  return std::all_of(steps.begin(), steps.end(), [](auto step) { return step == 1; });
}

/// Zeroes `whole`, then copies `part` to `starts` of it, both blocked. Returns false where the
/// plain copy must be used.
bool placeBlocked(Preparation &p, Tensor part, Tensor whole, const Shape &starts) {
  const Layout from = p.layout(part);
  if (isPlain(from))
    return false;
  const auto to = likeLayout(from, p.shape(whole));
  if (!to || static_cast<std::int64_t>(to->get_size()) > p.info(whole).reserved)
    return false;
  const auto place = partOf(*to, p.shape(part), starts);
  if (!place)
    return false;
  dnnl::memory result = p.output(whole, *to);
  p.call("blocks",
         [result, bytes = to->get_size()] { std::memset(pointer<std::byte>(result), 0, bytes); });
  p.reorder(p.input(part, from), p.alias(result, *place));
  return true;
}

/// Fills `whole`, then copies `part` into it, both plain.
void placePlain(Preparation &p, Tensor whole, double value, dnnl::memory part, std::int64_t skipped,
                Shape partStrides, core::Walk walk, Shape extents) {
  const std::int64_t bytes = core::elementBytes(p.info(whole).type);
  const std::int64_t n = core::elementCount(p.shape(whole));
  p.call("loop", [=, type = p.info(whole).type, result = p.plainOutput(whole)] {
    std::byte *to = pointer<std::byte>(result);
    fill(to, type, value, n);
    stridedCopy(to + walk.offset * bytes, walk.strides, pointer<std::byte>(part) + skipped * bytes,
                partStrides, extents, bytes);
  });
}

void concatPlain(Preparation &p, std::span<const Tensor> xs, Tensor y, std::int64_t axis) {
  const std::int64_t bytes = core::elementBytes(p.info(y).type);
  const core::AxisView whole = core::aroundAxis(p.shape(y), axis);
  dnnl::memory result = p.plainOutput(y);
  std::int64_t begin = 0;
  for (Tensor x : xs) {
    const core::AxisView view = core::aroundAxis(p.shape(x), axis);
    const std::int64_t run = view.extent * view.inner * bytes;
    const std::int64_t stride = whole.extent * whole.inner * bytes;
    p.call("loop", [=, part = p.plainInput(x), outer = whole.outer] {
      for (std::int64_t o = 0; o < outer; ++o)
        std::memcpy(pointer<std::byte>(result) + begin + o * stride,
                    pointer<std::byte>(part) + o * run, static_cast<std::size_t>(run));
    });
    begin += run;
  }
}

/// Appends oneDNN's concat for the parts' layouts. Returns false when oneDNN has none for them.
bool concatBlocked(Preparation &p, std::span<const Tensor> xs, Tensor y, std::int64_t axis) {
  const Tensor largest = *std::max_element(xs.begin(), xs.end(), [&](Tensor a, Tensor b) {
    return core::elementCount(p.shape(a)) < core::elementCount(p.shape(b));
  });
  const auto wanted = likeLayout(p.layout(largest), p.shape(y));
  if (!wanted || isPlain(*wanted) ||
      static_cast<std::int64_t>(wanted->get_size()) > p.info(y).reserved)
    return false;
  std::vector<Layout> parts;
  for (Tensor x : xs)
    parts.push_back(withType(p.layout(x), wanted->data_type()));
  std::optional<dnnl::concat::primitive_desc> desc;
  try {
    desc.emplace(*wanted, static_cast<int>(axis), parts, p.program.engine, p.attributes());
  } catch (const dnnl::error &) {
    return false; // a part ends inside a block
  }
  std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_DST, p.output(y, *wanted)}};
  for (std::size_t i = 0; i < xs.size(); ++i)
    arguments.emplace(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), p.input(xs[i], parts[i]));
  p.primitive(dnnl::concat(*desc), *desc, std::move(arguments));
  return true;
}

} // namespace

void CpuBuilder::concat(std::string_view layer, std::span<const Tensor> xs, Tensor y,
                        std::int64_t axis) {
  prepare("concat", layer, [&](Preparation &p) {
    core::checkConcat(p, xs, y, axis);
    axis = p.expectAxis(y, axis);
    const bool blocked =
        std::any_of(xs.begin(), xs.end(), [&](Tensor x) { return !isPlain(p.layout(x)); });
    if (!blocked || !concatBlocked(p, xs, y, axis))
      concatPlain(p, xs, y, axis);
  });
}

void CpuBuilder::slice(std::string_view layer, Tensor x, Tensor y, const Shape &starts,
                       const Shape &steps) {
  prepare("slice", layer, [&](Preparation &p) {
    core::checkSlice(p, x, y, starts, steps);
    const Layout from = p.layout(x);
    if (isUnitStep(steps) && !isPlain(from)) {
      const auto part = partOf(from, p.shape(y), starts);
      const auto to = likeLayout(from, p.shape(y));
      if (part && to) {
        dnnl::memory source = p.input(x, from);
        p.reorder(p.alias(source, *part), p.output(y, *to));
        return;
      }
    }
    const std::int64_t bytes = core::elementBytes(p.info(x).type);
    p.call("loop", [=, walk = core::walkOf(core::denseStrides(p.shape(x)), starts, steps),
                    shape = p.shape(y), source = p.plainInput(x), result = p.plainOutput(y)] {
      stridedCopy(pointer<std::byte>(result), core::denseStrides(shape),
                  pointer<std::byte>(source) + walk.offset * bytes, walk.strides, shape, bytes);
    });
  });
}

void CpuBuilder::sliceBackward(std::string_view layer, Tensor dy, Tensor dx, const Shape &starts,
                               const Shape &steps) {
  prepare("sliceBackward", layer, [&](Preparation &p) {
    core::checkSlice(p, dx, dy, starts, steps);
    if (isUnitStep(steps) && placeBlocked(p, dy, dx, starts))
      return;
    placePlain(p, dx, 0, p.plainInput(dy), 0, core::denseStrides(p.shape(dy)),
               core::walkOf(core::denseStrides(p.shape(dx)), starts, steps), p.shape(dy));
  });
}

void CpuBuilder::pad(std::string_view layer, Tensor x, Tensor y, const Shape &begins,
                     double value) {
  prepare("pad", layer, [&](Preparation &p) {
    core::checkPad(p, x, y, begins);
    const Shape &from = p.shape(x), &to = p.shape(y);
    const core::PadPart part = core::padPart(from, to, begins);
    if (!part.crops && value == 0 && placeBlocked(p, x, y, part.starts))
      return;
    const Shape ones(from.size(), 1);
    const core::Walk skipped = core::walkOf(core::denseStrides(from), part.skips, ones);
    placePlain(p, y, value, p.plainInput(x), skipped.offset, skipped.strides,
               core::walkOf(core::denseStrides(to), part.starts, ones), part.extents);
  });
}

void CpuBuilder::transpose(std::string_view layer, Tensor x, Tensor y, const Shape &permutation) {
  prepare("transpose", layer, [&](Preparation &p) {
    core::checkTranspose(p, x, y, permutation);
    p.call("loop", [=, from = core::permuted(core::denseStrides(p.shape(x)), permutation),
                    bytes = core::elementBytes(p.info(x).type), shape = p.shape(y),
                    source = p.plainInput(x), result = p.plainOutput(y)] {
      stridedCopy(pointer<std::byte>(result), core::denseStrides(shape), pointer<std::byte>(source),
                  from, shape, bytes);
    });
  });
}

void CpuBuilder::reshape(std::string_view layer, Tensor x, Tensor y) {
  prepare("reshape", layer, [&](Preparation &p) {
    core::checkReshape(p, x, y);
    const Layout from = p.layout(x);
    const bool isCopy = p.shape(x) == p.shape(y);
    const Layout to = isCopy ? from : plainLike(from);
    dnnl::memory source = p.input(x, from), result = p.output(y, to);
    if (!(from == to)) {
      p.reorder(source, result);
      return;
    }
    p.call("memcpy", [=, bytes = from.get_size()] {
      if (pointer<void>(result) != pointer<void>(source))
        std::memcpy(pointer<void>(result), pointer<void>(source), bytes);
    });
  });
}

} // namespace syncline::cpu

// Pooling by oneDNN, in the layout of its input. Means of whole images are this backend's own.
#include "runtime/cpu/Channels.h"
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/NotANumber.h"
#include "runtime/cpu/Windows.h"

#include <algorithm>

namespace syncline::cpu {

namespace {

using dnnl::algorithm;

struct PoolGeometry {
  Shape kernel, strides, dilations, padsBegin, padsEnd;
  bool isDilated = false;
};

PoolGeometry geometryOf(const Preparation &p, Tensor x, Tensor y, const Window &window) {
  const std::size_t spatial = window.kernel.size();
  core::checkPool(p, x, y, window);
  PoolGeometry g{window.kernel, window.strides, {}, window.padsBegin, {}};
  for (std::size_t i = 0; i < spatial; ++i) {
    g.dilations.push_back(window.dilations[i] - 1);
    g.isDilated |= window.dilations[i] > 1;
    g.padsEnd.push_back(
        paddingEnd(window, i, window.kernel[i], p.shape(x)[i + 2], p.shape(y)[i + 2]));
  }
  return g;
}

/// oneDNN's handles own their descriptions, so a second owner needs a copy.
dnnl_primitive_desc_t copyOf(const dnnl::primitive_desc &desc) {
  dnnl_primitive_desc_t copy = nullptr;
  dnnl::error::wrap_c_api(dnnl_primitive_desc_clone(&copy, desc.get()),
                          "could not copy a pooling's description");
  return copy;
}

/// Both generations of oneDNN's pooling behind one interface. Only the second one has dilations;
/// only the first one has generated kernels.
struct Pooling {
  dnnl::primitive_desc desc;
  dnnl::primitive primitive;
  Layout source, destination;
};

Pooling forwardPooling(Preparation &p, algorithm kind, const PoolGeometry &g, const Layout &x,
                       const Layout &y) {
  const auto training = dnnl::prop_kind::forward_training;
  if (g.isDilated) {
    const dnnl::pooling_v2_forward::primitive_desc desc(
        {training, kind, x, y, g.strides, g.kernel, g.dilations, g.padsBegin, g.padsEnd},
        p.attributes(), p.program.engine);
    return {desc, dnnl::pooling_v2_forward(desc), desc.src_desc(), desc.dst_desc()};
  }
  const dnnl::pooling_forward::primitive_desc desc(
      {training, kind, x, y, g.strides, g.kernel, g.padsBegin, g.padsEnd}, p.attributes(),
      p.program.engine);
  return {desc, dnnl::pooling_forward(desc), desc.src_desc(), desc.dst_desc()};
}

Pooling backwardPooling(Preparation &p, algorithm kind, const PoolGeometry &g, const Layout &dx,
                        const Layout &dy, const dnnl::primitive_desc &forward) {
  if (g.isDilated) {
    dnnl::pooling_v2_forward::primitive_desc hint(copyOf(forward));
    const dnnl::pooling_v2_backward::primitive_desc desc(
        {kind, dx, dy, g.strides, g.kernel, g.dilations, g.padsBegin, g.padsEnd}, p.attributes(),
        p.program.engine, hint);
    return {desc, dnnl::pooling_v2_backward(desc), dx, dy};
  }
  dnnl::pooling_forward::primitive_desc hint(copyOf(forward));
  const dnnl::pooling_backward::primitive_desc desc(
      {kind, dx, dy, g.strides, g.kernel, g.padsBegin, g.padsEnd}, p.attributes(), p.program.engine,
      hint);
  return {desc, dnnl::pooling_backward(desc), dx, dy};
}

algorithm averageKind(const Window &window) {
  return window.countIncludePad ? algorithm::pooling_avg_include_padding
                                : algorithm::pooling_avg_exclude_padding;
}

/// Any layout for the result of a pooling of x, with elements of the same type.
Layout anyLayout(const Preparation &p, Tensor y, const Layout &x) {
  return Layout(p.shape(y), x.data_type(), dnnl::memory::format_tag::any);
}

/// The layout in which a max pooling reads x: its own, but f32 where the workspace has i32
/// elements. There oneDNN 2.6's backward in bf16 gives 0.
Layout maximaLayout(const Preparation &p, Tensor x, const Window &window) {
  constexpr std::int64_t mostInU8 = 255;
  const Layout stored = p.layout(x);
  const bool isLarge = core::elementCount(window.kernel) > mostInU8;
  return isLarge && p.isRounded(x) ? withType(stored, DataType::f32) : stored;
}

/// Whether each result is the mean of all of an image's elements.
bool isGlobal(const Preparation &p, const PoolGeometry &g, Tensor x, Tensor y) {
  const Shape &image = p.shape(x);
  const bool isUnpadded = std::ranges::all_of(g.padsBegin, [](auto n) { return n == 0; });
  return isUnpadded && std::equal(g.kernel.begin(), g.kernel.end(), image.begin() + 2) &&
         core::elementCount(p.shape(y)) == image[0] * image[1];
}

/// y = the mean of each sample's channel, in double: oneDNN adds up an image in one float, which
/// over 100 x 100 elements loses two digits.
void appendMeans(Preparation &p, Tensor x, Tensor y) {
  const Layout stored = p.layout(x);
  const Layout data = Channels::of(stored) ? stored : p.plain(x);
  withElement(data, [&]<typename T>(T) {
    withElement(p.plain(y), [&]<typename Mean>(Mean) {
      p.call("sums in double", [=, view = *Channels::of(data), channels = p.shape(x)[1],
                                from = p.input(x, data), result = p.plainOutput(y)] {
        const std::vector<double> sums =
            sampleSums(view, [from = pointer<T>(from)](std::int64_t at, std::int64_t) {
              return Two<>{loaded(from[at]), 0};
            });
        const auto rows = static_cast<double>(view.rows);
        const auto end = static_cast<std::int64_t>(view.end());
        for (std::int64_t i = 0; i < view.samples * channels; ++i) {
          const std::int64_t at = i / channels * 2 * end + i % channels;
          store(pointer<Mean>(result)[i],
                static_cast<float>(sums[static_cast<std::size_t>(at)] / rows));
        }
      });
    });
  });
}

} // namespace

void CpuBuilder::maxPool(std::string_view layer, Tensor x, Tensor y, Tensor workspace,
                         const Window &window) {
  prepare("maxPool", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32, ElementType::bf16});
    const PoolGeometry g = geometryOf(p, x, y, window);
    const Layout from = maximaLayout(p, x, window);
    const Pooling pooling =
        forwardPooling(p, algorithm::pooling_max, g, from, anyLayout(p, y, from));
    const dnnl::memory source = p.input(x, pooling.source);
    const dnnl::memory result = p.output(y, pooling.destination);
    const dnnl::memory taps = p.opaque(workspace, pooling.desc.workspace_desc());
    p.primitive(pooling.primitive, pooling.desc,
                {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}, {DNNL_ARG_WORKSPACE, taps}});
    appendNanMaxima(p, window, source, result, taps);
    poolings[workspace.id] = pooling.desc;
  });
}

void CpuBuilder::maxPoolBackward(std::string_view layer, Tensor dy, Tensor workspace, Tensor dx,
                                 const Window &window) {
  prepare("maxPoolBackward", layer, [&](Preparation &p) {
    p.expectType(dy, {ElementType::f32, ElementType::bf16});
    const PoolGeometry g = geometryOf(p, dx, dy, window);
    auto forward = poolings.find(workspace.id);
    if (forward == poolings.end())
      p.fail("expected the workspace of a max pooling");
    const dnnl::primitive_desc &hint = forward->second;
    const Pooling pooling =
        backwardPooling(p, algorithm::pooling_max, g, hint.src_desc(0), hint.dst_desc(0), hint);
    p.primitive(pooling.primitive, pooling.desc,
                {{DNNL_ARG_DIFF_DST, p.input(dy, pooling.destination)},
                 {DNNL_ARG_WORKSPACE, p.opaque(workspace, hint.workspace_desc())},
                 {DNNL_ARG_DIFF_SRC, p.output(dx, pooling.source)}});
  });
}

void CpuBuilder::averagePool(std::string_view layer, Tensor x, Tensor y, const Window &window) {
  prepare("averagePool", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32, ElementType::bf16});
    const PoolGeometry g = geometryOf(p, x, y, window);
    if (isGlobal(p, g, x, y))
      return appendMeans(p, x, y);
    const Pooling pooling =
        forwardPooling(p, averageKind(window), g, p.layout(x), anyLayout(p, y, p.layout(x)));
    p.primitive(pooling.primitive, pooling.desc,
                {{DNNL_ARG_SRC, p.input(x, pooling.source)},
                 {DNNL_ARG_DST, p.output(y, pooling.destination)}});
  });
}

void CpuBuilder::averagePoolBackward(std::string_view layer, Tensor dy, Tensor dx,
                                     const Window &window) {
  prepare("averagePoolBackward", layer, [&](Preparation &p) {
    p.expectType(dy, {ElementType::f32, ElementType::bf16});
    const PoolGeometry g = geometryOf(p, dx, dy, window);
    // The dy of a global pooling is mostly plain, from a matrix product. The layers below need
    // blocked gradients of the type of products, and dx is the large operand, so dx is so.
    const DataType type = p.productTypes(dx).front();
    Layout source = activationLayout(p.shape(dx), type);
    if (static_cast<std::int64_t>(source.get_size()) > p.info(dx).reserved)
      source = plainLayout(p.shape(dx), type);
    const Layout destination = *likeLayout(source, p.shape(dy));
    const Pooling forward = forwardPooling(p, averageKind(window), g, source, destination);
    const Pooling pooling =
        backwardPooling(p, averageKind(window), g, source, destination, forward.desc);
    p.primitive(
        pooling.primitive, pooling.desc,
        {{DNNL_ARG_DIFF_DST, p.input(dy, destination)}, {DNNL_ARG_DIFF_SRC, p.output(dx, source)}});
  });
}

} // namespace syncline::cpu

// Convolution by oneDNN. Layouts are chosen so that a vectorised kernel runs and few operands
// are converted.
#include "runtime/cpu/Channels.h"
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/NotANumber.h"
#include "runtime/cpu/Windows.h"

#include <array>
#include <optional>
#include <vector>

namespace syncline::cpu {

namespace {

using Tag = dnnl::memory::format_tag;

/// The geometry of one convolution, in oneDNN's terms.
struct Geometry {
  Shape x, w, y;
  Shape strides, dilations, padsBegin, padsEnd;
  DataType type;

  Layout any(const Shape &dims) const { return Layout(dims, type, Tag::any); }
};

/// The geometry of the operands. Grouped weights get a dimension for the group; dilations count
/// from 0.
Geometry geometryOf(const Preparation &p, Tensor x, Tensor w, Tensor bias, Tensor y,
                    const Window &window) {
  core::checkConv(p, x, w, bias, y, window);
  Geometry g{p.shape(x), p.shape(w),       p.shape(y), window.strides,
             {},         window.padsBegin, {},         p.type(x)};
  const std::size_t spatial = window.strides.size();
  for (std::size_t i = 0; i < spatial; ++i) {
    g.dilations.push_back(window.dilations[i] - 1);
    g.padsEnd.push_back(paddingEnd(window, i, g.w[i + 2], g.x[i + 2], g.y[i + 2]));
  }
  if (window.groups > 1) {
    g.w[0] /= window.groups;
    g.w.insert(g.w.begin(), window.groups);
  }
  return g;
}

/// Whether oneDNN chose one of its generated kernels rather than a loop nest or im2col.
template <typename PrimitiveDesc> bool isGenerated(const PrimitiveDesc &desc) {
  const std::string_view name = desc.impl_info_str();
  return name.find("ref") == name.npos && name.find("gemm:") == name.npos;
}

/// The description for the first choice of layouts with a generated kernel, or else with any
/// kernel. `make(choice)` throws dnnl::error when there is no kernel.
template <typename PrimitiveDesc, typename Make>
PrimitiveDesc firstGood(const std::vector<std::array<Layout, 3>> &choices, Make make) {
  std::optional<PrimitiveDesc> fallback;
  std::optional<dnnl::error> failure;
  for (const auto &choice : choices) {
    try {
      PrimitiveDesc desc = make(choice);
      if (isGenerated(desc))
        return desc;
      if (!fallback)
        fallback = desc;
    } catch (const dnnl::error &error) {
      failure = error;
    }
  }
  if (!fallback)
    throw *failure;
  return *fallback;
}

/// The tensor's layout if the convolution can use it, otherwise `any`. Plain grouped weights are
/// renamed; blocked ones already have the group's dimension.
Layout currentOr(const Preparation &p, Tensor tensor, const Layout &any) {
  if (!p.isLaidOut(tensor))
    return any;
  const Layout current = p.layout(tensor);
  if (current.dims() == any.dims())
    return current;
  return isPlain(current) ? plainLayout(any.dims(), current.data_type()) : any;
}

/// The weights' layout, or `any` for plain weights, which would force a slow kernel: oneDNN then
/// chooses a layout and the weights are converted.
Layout weightsOr(const Preparation &p, Tensor tensor, const Layout &any) {
  const Layout current = currentOr(p, tensor, any);
  return current == any || isPlain(current) ? any : current;
}

/// The forward description that oneDNN needs to make a backward one. Its layouts are not binding.
dnnl::convolution_forward::primitive_desc hint(const Preparation &p, const Geometry &g) {
  return {{dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, g.any(g.x),
           g.any(g.w), g.any(g.y), g.strides, g.dilations, g.padsBegin, g.padsEnd},
          p.program.engine};
}

/// dbias = Σ dy over all but the channels, in double: oneDNN adds up a channel in one float, which
/// over 100,000 elements loses three digits. `gradient` is dy as the convolution reads it.
void appendBiasGradient(Preparation &p, Tensor dy, const dnnl::memory &gradient, Tensor dbias) {
  const std::optional<Channels> inPlace = Channels::of(gradient.get_desc());
  const dnnl::memory from = inPlace ? gradient : p.plainInput(dy);
  const Channels view = inPlace ? *inPlace : *Channels::of(p.plain(dy));
  withElement(from.get_desc(), [&]<typename T>(T) {
    p.call("", [=, channels = p.shape(dy)[1], result = p.plainOutput(dbias)] {
      const std::vector<Two> sums =
          channelSums(view, [dy = pointer<T>(from)](std::int64_t at, std::int64_t) {
            return Two{loaded(dy[at]), 0};
          });
      for (std::int64_t c = 0; c < channels; ++c)
        store(pointer<T>(result)[c], static_cast<float>(sums[static_cast<std::size_t>(c)].first));
    });
  });
}

} // namespace

void CpuBuilder::conv(std::string_view layer, Tensor x, Tensor w, Tensor bias, Tensor y,
                      const Window &window, Activation activation) {
  prepare("conv", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32, ElementType::bf16});
    const Geometry g = geometryOf(p, x, w, bias, y, window);
    const Layout anyX = g.any(g.x), anyW = g.any(g.w), anyY = g.any(g.y);
    const Layout nowX = currentOr(p, x, anyX), nowW = weightsOr(p, w, anyW);
    using Desc = dnnl::convolution_forward::primitive_desc;
    const auto desc = firstGood<Desc>(
        {{nowX, nowW, anyY}, {nowX, anyW, anyY}, {anyX, anyW, anyY}}, [&](const auto &choice) {
          const auto kind = dnnl::prop_kind::forward_training;
          const auto direct = dnnl::algorithm::convolution_direct;
          return bias.isValid() ? Desc({kind, direct, choice[0], choice[1], p.plain(bias),
                                        choice[2], g.strides, g.dilations, g.padsBegin, g.padsEnd},
                                       p.attributes(), p.program.engine)
                                : Desc({kind, direct, choice[0], choice[1], choice[2], g.strides,
                                        g.dilations, g.padsBegin, g.padsEnd},
                                       p.attributes(), p.program.engine);
        });
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, p.input(x, desc.src_desc())},
        {DNNL_ARG_WEIGHTS, p.input(w, desc.weights_desc())},
        {DNNL_ARG_DST, p.output(y, desc.dst_desc())}};
    if (bias.isValid())
      arguments.emplace(DNNL_ARG_BIAS, p.plainInput(bias));
    const dnnl::memory result = arguments.at(DNNL_ARG_DST);
    p.primitive(dnnl::convolution_forward(desc), desc, std::move(arguments));
    if (activation == Activation::relu)
      appendRelu(p, result);
  });
}

void CpuBuilder::convBackwardData(std::string_view layer, Tensor dy, Tensor w, Tensor dx,
                                  const Window &window) {
  prepare("convBackwardData", layer, [&](Preparation &p) {
    p.expectType(dy, {ElementType::f32, ElementType::bf16});
    const Geometry g = geometryOf(p, dx, w, none, dy, window);
    const Layout anyX = g.any(g.x), anyW = g.any(g.w), anyY = g.any(g.y);
    const Layout nowY = currentOr(p, dy, anyY), nowW = weightsOr(p, w, anyW);
    using Desc = dnnl::convolution_backward_data::primitive_desc;
    const auto desc = firstGood<Desc>(
        {{anyX, nowW, nowY}, {anyX, anyW, nowY}, {anyX, anyW, anyY}}, [&](const auto &choice) {
          return Desc({dnnl::algorithm::convolution_direct, choice[0], choice[1], choice[2],
                       g.strides, g.dilations, g.padsBegin, g.padsEnd},
                      p.attributes(), p.program.engine, hint(p, g));
        });
    p.primitive(dnnl::convolution_backward_data(desc), desc,
                {{DNNL_ARG_DIFF_DST, p.input(dy, desc.diff_dst_desc())},
                 {DNNL_ARG_WEIGHTS, p.input(w, desc.weights_desc())},
                 {DNNL_ARG_DIFF_SRC, p.output(dx, desc.diff_src_desc())}});
  });
}

void CpuBuilder::convBackwardWeights(std::string_view layer, Tensor x, Tensor dy, Tensor dw,
                                     Tensor dbias, const Window &window) {
  prepare("convBackwardWeights", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32, ElementType::bf16});
    const Geometry g = geometryOf(p, x, dw, dbias, dy, window);
    const Layout anyX = g.any(g.x), anyW = g.any(g.w), anyY = g.any(g.y);
    const Layout nowX = currentOr(p, x, anyX), nowY = currentOr(p, dy, anyY);
    const Layout nowW = weightsOr(p, dw, anyW);
    using Desc = dnnl::convolution_backward_weights::primitive_desc;
    const auto desc =
        firstGood<Desc>({{nowX, nowW, nowY},
                         {nowX, anyW, nowY},
                         {nowX, anyW, anyY},
                         {anyX, anyW, nowY},
                         {anyX, anyW, anyY}},
                        [&](const auto &choice) {
                          const auto direct = dnnl::algorithm::convolution_direct;
                          return Desc({direct, choice[0], choice[1], choice[2], g.strides,
                                       g.dilations, g.padsBegin, g.padsEnd},
                                      p.attributes(), p.program.engine, hint(p, g));
                        });
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, p.input(x, desc.src_desc())},
        {DNNL_ARG_DIFF_DST, p.input(dy, desc.diff_dst_desc())},
        {DNNL_ARG_DIFF_WEIGHTS, p.output(dw, desc.diff_weights_desc())}};
    const dnnl::memory gradient = arguments.at(DNNL_ARG_DIFF_DST);
    p.primitive(dnnl::convolution_backward_weights(desc), desc, std::move(arguments));
    if (dbias.isValid())
      appendBiasGradient(p, dy, gradient, dbias);
  });
}

} // namespace syncline::cpu

// Convolution by oneDNN, except for kernels of one element. Layouts are chosen so that a vectorised
// kernel runs and few operands are converted. With --precision bf16 operands are bf16 where oneDNN
// has such a kernel; bias and the weights' gradient are f32 always.
#include "runtime/cpu/BlockedConvolution.h"
#include "runtime/cpu/Channels.h"
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/NotANumber.h"
#include "runtime/cpu/Windows.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <vector>

namespace syncline::cpu {

namespace {

using Tag = dnnl::memory::format_tag;

/// The geometry of one convolution, in oneDNN's terms.
struct Geometry {
  Shape x, w, y;
  Shape strides, dilations, padsBegin, padsEnd;
};

Layout any(const Shape &dims, DataType type) { return Layout(dims, type, Tag::any); }

/// The layouts of x, w and y, or of their gradients.
using Choice = std::array<Layout, 3>;

void addChoices(std::vector<Choice> &choices, std::initializer_list<Choice> more) {
  choices.insert(choices.end(), more);
}

/// The geometry of the operands. Grouped weights get a dimension for the group; dilations count
/// from 0.
Geometry geometryOf(const Preparation &p, Tensor x, Tensor w, Tensor bias, Tensor y,
                    const Window &window) {
  core::checkConv(p, x, w, bias, y, window);
  Geometry g{p.shape(x), p.shape(w), p.shape(y), window.strides, {}, window.padsBegin, {}};
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

/// What oneDNN computes a convolution by, best first. Tiles are AMX's: they take bf16 with channels
/// last, and are several times as fast as vectors.
enum class KernelKind { tiles, vectors, matrixProduct, reference };

/// The reference's loops take many times as long, and add up a weight's gradient in one float.
template <typename PrimitiveDesc> KernelKind kindOf(const PrimitiveDesc &desc) {
  const std::string_view name = desc.impl_info_str();
  if (name.find("ref") != name.npos)
    return KernelKind::reference;
  if (name.find("amx") != name.npos)
    return KernelKind::tiles;
  return name.find("gemm:") == name.npos ? KernelKind::vectors : KernelKind::matrixProduct;
}

/// The best kind that a convolution of this choice's types may have on this processor.
KernelKind bestKind(const Choice &choice) {
  const bool isTiled = hasTiles() && choice[0].data_type() == DataType::bf16;
  return isTiled ? KernelKind::tiles : KernelKind::vectors;
}

/// The description for the first choice of layouts with the best kind of kernel. `make(choice)`
/// throws dnnl::error when there is no kernel.
template <typename PrimitiveDesc, typename Make>
PrimitiveDesc firstGood(const std::vector<Choice> &choices, Make make) {
  std::optional<PrimitiveDesc> best;
  std::optional<dnnl::error> failure;
  for (const Choice &choice : choices) {
    try {
      PrimitiveDesc desc = make(choice);
      const KernelKind kind = kindOf(desc);
      if (kind <= bestKind(choices.front()))
        return desc;
      if (!best || kind < kindOf(*best))
        best = desc;
    } catch (const dnnl::error &error) {
      failure = error;
    }
  }
  if (!best)
    throw *failure;
  return *best;
}

/// The tensor's layout if the convolution can use it, otherwise `any`, with the elements of `any`.
/// Plain grouped weights are renamed; blocked ones already have the group's dimension.
Layout currentOr(const Preparation &p, Tensor tensor, const Layout &any) {
  if (!p.isLaidOut(tensor))
    return any;
  const Layout current = withType(p.layout(tensor), any.data_type());
  if (current.dims() == any.dims())
    return current;
  return isPlain(current) ? plainLayout(any.dims(), any.data_type()) : any;
}

/// The weights' layout, or `any` for plain weights, which would force a slow kernel: oneDNN then
/// chooses a layout and the weights are converted.
Layout weightsOr(const Preparation &p, Tensor tensor, const Layout &any) {
  const Layout current = currentOr(p, tensor, any);
  return current == any || isPlain(current) ? any : current;
}

/// The forward description that oneDNN needs to make a backward one. Its layouts are not binding.
dnnl::convolution_forward::primitive_desc hint(const Preparation &p, const Geometry &g,
                                               DataType type) {
  return {{dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, any(g.x, type),
           any(g.w, type), any(g.y, type), g.strides, g.dilations, g.padsBegin, g.padsEnd},
          p.program.engine};
}

using WeightsDesc = dnnl::convolution_backward_weights::primitive_desc;

WeightsDesc describeWeights(const Preparation &p, const Geometry &g, const Choice &choice) {
  return WeightsDesc({dnnl::algorithm::convolution_direct, choice[0], choice[1], choice[2],
                      g.strides, g.dilations, g.padsBegin, g.padsEnd},
                     p.attributes(), p.program.engine, hint(p, g, choice[0].data_type()));
}

using ProductDesc = dnnl::matmul::primitive_desc;

/// The weights' gradient of a convolution by single elements as one product of matrices: dyᵀ·x over
/// all samples and places. By tiles it takes a third of the time of oneDNN's convolution, which
/// writes the gradient once a sample. Nothing where the processor has no tiles for it.
std::optional<ProductDesc> weightsProduct(const Preparation &p, const Geometry &g, DataType type) {
  const auto isOne = [](std::int64_t extent) { return extent == 1; };
  const auto isZero = [](std::int64_t extent) { return extent == 0; };
  if (!hasTiles() || type != DataType::bf16 || g.w.size() != g.x.size() ||
      !std::all_of(g.w.begin() + 2, g.w.end(), isOne) ||
      !std::ranges::all_of(g.padsBegin, isZero) || !std::ranges::all_of(g.padsEnd, isZero))
    return std::nullopt;
  const std::int64_t rows =
      std::accumulate(g.y.begin() + 2, g.y.end(), g.y[0], std::multiplies<>());
  try {
    const ProductDesc desc({Layout({g.w[0], rows}, type, Tag::ba),
                            Layout({rows, g.w[1]}, type, Tag::ab),
                            Layout({g.w[0], g.w[1]}, DataType::f32, Tag::ab)},
                           p.attributes(), p.program.engine);
    if (kindOf(desc) == KernelKind::tiles)
      return desc;
  } catch (const dnnl::error &) { // no such kernel: a convolution computes it
  }
  return std::nullopt;
}

/// The places of x that such a convolution reads: all, or every so many in each direction.
dnnl::memory strided(Preparation &p, const Geometry &g, const dnnl::memory &x) {
  if (std::ranges::all_of(g.strides, [](std::int64_t stride) { return stride == 1; }))
    return x;
  Shape dims = g.y, steps; // from place to place in x, in elements
  dims[1] = g.x[1];
  const Layout all = x.get_desc();
  for (std::size_t i = 0; i < g.strides.size(); ++i)
    steps.push_back(all.data.format_desc.blocking.strides[i + 2] * g.strides[i]);
  const dnnl::memory dense = p.scratch(channelsLastLayout(dims, all.data_type()));
  const std::int64_t places =
      std::accumulate(dims.begin() + 2, dims.end(), dims[0], std::multiplies<>());
  const std::int64_t sample = all.data.format_desc.blocking.strides[0];
  p.call("", [=] {
    for (std::int64_t place = 0; place < places; ++place) {
      std::int64_t rest = place, from = 0;
      for (std::size_t i = steps.size(); i-- > 0; rest /= dims[i + 2])
        from += rest % dims[i + 2] * steps[i];
      std::copy_n(pointer<std::uint16_t>(x) + from + rest * sample, dims[1],
                  pointer<std::uint16_t>(dense) + place * dims[1]);
    }
  });
  return dense;
}

/// Returns dy as the product reads it.
dnnl::memory appendWeightsProduct(Preparation &p, const Geometry &g, const ProductDesc &product,
                                  Tensor x, Tensor dy, Tensor dw) {
  const dnnl::memory gradient = p.input(dy, channelsLastLayout(g.y, DataType::bf16));
  const dnnl::memory values = strided(p, g, p.input(x, channelsLastLayout(g.x, DataType::bf16)));
  p.primitive(dnnl::matmul(product), product,
              {{DNNL_ARG_SRC, p.alias(gradient, product.src_desc())},
               {DNNL_ARG_WEIGHTS, p.alias(values, product.weights_desc())},
               {DNNL_ARG_DST, p.alias(p.plainOutput(dw), product.dst_desc())}});
  return gradient;
}

/// Lays weights out as the kernel of their gradient writes it. Gradient and weights lie alike, and
/// a convolution in bf16 converts the weights anyway.
void layOutByGradient(Preparation &p, const Geometry &g, Tensor w) {
  if (!p.program.rounds() || p.isLaidOut(w) || p.info(w).type != ElementType::f32)
    return;
  const auto wide = DataType::bf16;
  if (weightsProduct(p, g, wide))
    return p.program.layOut(w, p.plain(w));
  try {
    const WeightsDesc desc =
        describeWeights(p, g, {any(g.x, wide), any(g.w, DataType::f32), any(g.y, wide)});
    p.program.layOut(w, desc.diff_weights_desc());
  } catch (const dnnl::error &) { // no such kernel: the forward convolution chooses
  }
}

/// dbias = Σ dy over all but the channels, in double: oneDNN adds up a channel in one float, which
/// over 100,000 elements loses three digits. `gradient` is dy as the convolution reads it.
void appendBiasGradient(Preparation &p, Tensor dy, const dnnl::memory &gradient, Tensor dbias) {
  const std::optional<Channels> inPlace = Channels::of(gradient.get_desc());
  const dnnl::memory from = inPlace ? gradient : p.plainInput(dy);
  const Channels view = inPlace ? *inPlace : *Channels::of(p.plain(dy));
  withElement(from.get_desc(), [&]<typename T>(T) {
    withElement(p.plain(dbias), [&]<typename Sum>(Sum) {
      p.call("", [=, channels = p.shape(dy)[1], result = p.plainOutput(dbias)] {
        const std::vector<Two<>> sums =
            channelSums(view, [dy = pointer<T>(from)](std::int64_t at, std::int64_t) {
              return Two<>{loaded(dy[at]), 0};
            });
        for (std::int64_t c = 0; c < channels; ++c)
          store(pointer<Sum>(result)[c],
                static_cast<float>(sums[static_cast<std::size_t>(c)].first));
      });
    });
  });
}

/// Appends a convolution by kernels of one element as this backend's own, whose sums lose less
/// than oneDNN's. Whether it could.
bool appendBlocked(Preparation &p, const Geometry &g,
                   const std::unordered_map<int, dnnl::memory> &arguments) {
  const auto are = [](std::int64_t value, auto... shapes) {
    return (std::ranges::all_of(shapes, [=](std::int64_t each) { return each == value; }) && ...);
  };
  const dnnl::memory x = arguments.at(DNNL_ARG_SRC), w = arguments.at(DNNL_ARG_WEIGHTS);
  const dnnl::memory y = arguments.at(DNNL_ARG_DST);
  const auto product = BlockedConvolution::of(x.get_desc(), w.get_desc(), y.get_desc());
  if (!product || !are(1, Shape(g.w.begin() + 2, g.w.end()), g.strides) ||
      !are(0, g.padsBegin, g.padsEnd))
    return false;
  const auto bias = arguments.find(DNNL_ARG_BIAS);
  const auto b = bias == arguments.end() ? std::nullopt : std::optional(bias->second);
  p.call("sums in parts", [=, convolution = *product] {
    convolution.run(pointer<float>(x), pointer<float>(w), b ? pointer<float>(*b) : nullptr,
                    pointer<float>(y));
  });
  return true;
}

} // namespace

void CpuBuilder::conv(std::string_view layer, Tensor x, Tensor w, Tensor bias, Tensor y,
                      const Window &window, Activation activation) {
  prepare("conv", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32, ElementType::bf16});
    const Geometry g = geometryOf(p, x, w, bias, y, window);
    layOutByGradient(p, g, w);
    std::vector<Choice> choices;
    for (const DataType type : p.productTypes(x)) {
      const Layout anyX = any(g.x, type), anyW = any(g.w, type), anyY = any(g.y, type);
      const Layout nowX = currentOr(p, x, anyX), nowW = weightsOr(p, w, anyW);
      addChoices(choices, {{nowX, nowW, anyY}, {nowX, anyW, anyY}, {anyX, anyW, anyY}});
    }
    using Desc = dnnl::convolution_forward::primitive_desc;
    const auto desc = firstGood<Desc>(choices, [&](const Choice &choice) {
      const auto kind = dnnl::prop_kind::forward_training;
      const auto direct = dnnl::algorithm::convolution_direct;
      return bias.isValid() ? Desc({kind, direct, choice[0], choice[1], p.plain(bias), choice[2],
                                    g.strides, g.dilations, g.padsBegin, g.padsEnd},
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
    if (!appendBlocked(p, g, arguments))
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
    std::vector<Choice> choices;
    for (const DataType type : p.productTypes(dy)) {
      const Layout anyX = any(g.x, type), anyW = any(g.w, type), anyY = any(g.y, type);
      const Layout nowY = currentOr(p, dy, anyY), nowW = weightsOr(p, w, anyW);
      addChoices(choices, {{anyX, nowW, nowY}, {anyX, anyW, nowY}, {anyX, anyW, anyY}});
    }
    using Desc = dnnl::convolution_backward_data::primitive_desc;
    const auto desc = firstGood<Desc>(choices, [&](const Choice &choice) {
      return Desc({dnnl::algorithm::convolution_direct, choice[0], choice[1], choice[2], g.strides,
                   g.dilations, g.padsBegin, g.padsEnd},
                  p.attributes(), p.program.engine, hint(p, g, choice[0].data_type()));
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
    if (const auto product = weightsProduct(p, g, p.productTypes(x).front())) {
      const dnnl::memory gradient = appendWeightsProduct(p, g, *product, x, dy, dw);
      if (dbias.isValid())
        appendBiasGradient(p, dy, gradient, dbias);
      return;
    }
    std::vector<Choice> choices;
    for (const DataType type : p.productTypes(x)) {
      const Layout anyX = any(g.x, type), anyY = any(g.y, type), anyW = any(g.w, p.type(dw));
      const Layout nowX = currentOr(p, x, anyX), nowY = currentOr(p, dy, anyY);
      const Layout nowW = weightsOr(p, dw, anyW);
      addChoices(choices,
                 {{nowX, nowW, nowY},
                  {nowX, anyW, nowY},
                  {nowX, anyW, anyY},
                  {anyX, anyW, nowY},
                  {anyX, anyW, anyY},
                  // 7x7 kernels of depthwise convolutions are matrix products, if plain.
                  {plainLayout(g.x, type), plainLayout(g.w, p.type(dw)), plainLayout(g.y, type)}});
    }
    const auto desc = firstGood<WeightsDesc>(
        choices, [&](const Choice &choice) { return describeWeights(p, g, choice); });
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

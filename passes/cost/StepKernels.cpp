// The kernels of each operation, with the bytes that they move in the step's precision.
#include "passes/cost/StepKernels.h"

#include "passes/cost/Counts.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace syncline::cost {

KernelStyle KernelStyle::of(llvm::StringRef like, Precision precision) {
  KernelStyle style;
  style.isFused = like == "compiled" || like == "best";
  style.isTuned = like == "best";
  style.precision = precision;
  style.hasChannelsFirst = like == "pytorch-nchw" || (like == "pytorch" && !style.isHalf());
  return style;
}

namespace {

constexpr double singleBytes = 4, halfBytes = 2, indexBytes = 8;

double elements(Value value) {
  double product = 1;
  for (std::int64_t size : cast<ShapedType>(value.getType()).getShape())
    product *= static_cast<double>(size);
  return product;
}

ArrayRef<std::int64_t> shapeOf(Value value) { return cast<ShapedType>(value.getType()).getShape(); }

class OpKernels {
public:
  OpKernels(Operation *op, const KernelStyle &style) : op(op), style(style) {}

  std::vector<Kernel> kernels() {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](nn::ConvOp o) { forward(o); })
        .Case([&](nn::ConvBackwardDataOp o) {
          convolve(o, o.getDx(), o.getDy(), o.getW(), Pass::data);
        })
        .Case([&](nn::ConvBackwardWeightsOp o) {
          convolve(o, o.getX(), o.getDy(), o.getDw(), Pass::weights);
          if (o.getDbias())
            move(KernelClass::pointwise, elements(o.getDy()) * style.width());
        })
        .Case([&](nn::MatmulOp o) { multiply(o); })
        .Case([&](nn::PointwiseOp o) { found = pointwiseKernels(o, style); })
        .Case([&](nn::RecurrentOp o) { recur(o.getX(), o.getR(), 1); })
        .Case([&](nn::RecurrentBackwardOp o) { recur(o.getDx(), o.getR(), 2); })
        .Default([&](Operation *) { moveOnly(); });
    return std::move(found);
  }

private:
  enum class Pass { forward, data, weights };

  void move(KernelClass kind, double bytes, double launches = 1) {
    found.push_back({.kind = kind, .bytes = bytes, .launches = launches});
  }

  /// Mixed precision rounds each parameter for its product, and its gradient back.
  void castParameter(double count) {
    if (style.isHalf())
      move(KernelClass::pointwise, count * (singleBytes + halfBytes), style.isFused ? 0 : 1);
  }

  void activate(nn::Activation activation, double count) {
    if (activation != nn::Activation::none && !style.isFused)
      move(KernelClass::pointwise, 2 * count * style.width());
  }

  void forward(nn::ConvOp conv) {
    convolve(conv, conv.getX(), conv.getY(), conv.getW(), Pass::forward);
    if (conv.getBias() && !style.isFused)
      move(KernelClass::pointwise, 2 * elements(conv.getY()) * style.width());
    activate(conv.getActivation(), elements(conv.getY()));
  }

  template <typename Op> void convolve(Op conv, Value x, Value y, Value w, Pass pass) {
    const auto groups = static_cast<double>(conv.getGroups());
    const auto filters = static_cast<double>(shapeOf(w)[0]) / groups;
    const auto channels = static_cast<double>(shapeOf(w)[1]);
    const double window = elements(w) / (filters * groups * channels);
    const double outputs = elements(y) / (filters * groups);
    const double inputs = elements(x) / (channels * groups);
    Kernel kernel{.kind = KernelClass::convolution};
    if (groups > 1)
      kernel.kind = channels == 1 ? KernelClass::depthwise : KernelClass::grouped;
    kernel.flops = countsOf(conv)->flops;
    kernel.bytes = (elements(x) + elements(y) + elements(w)) * style.width();
    kernel.batch = groups;
    kernel.m = pass == Pass::weights ? filters : pass == Pass::data ? inputs : outputs;
    kernel.n = pass == Pass::weights ? channels * window : pass == Pass::data ? channels : filters;
    kernel.k = pass == Pass::weights ? outputs
               : pass == Pass::data  ? filters * window
                                     : channels * window;
    if (style.hasChannelsFirst)
      kernel.layoutBytes = (elements(x) + elements(y)) * style.width();
    kernel.hasWindow = groups == 1 && isFastWindow(conv, shapeOf(w).drop_front(2));
    found.push_back(kernel);
    if (pass != Pass::data)
      castParameter(elements(w));
  }

  /// Winograd's algorithm serves windows of 3 by 3, an FFT larger ones, in one dimension too.
  template <typename Op> static bool isFastWindow(Op conv, ArrayRef<std::int64_t> sizes) {
    constexpr std::int64_t least = 9;
    std::int64_t places = 1;
    for (std::int64_t size : sizes)
      places *= size;
    return places >= least && llvm::count_if(sizes, [](std::int64_t s) { return s > 1; }) <= 2 &&
           llvm::all_of(conv.getStrides(), [](std::int64_t s) { return s == 1; });
  }

  /// Matrix units read rows of whole 16 bytes.
  bool isUnaligned(Value matrix) const {
    return std::fmod(static_cast<double>(shapeOf(matrix).back()) * style.width(), 16) > 0;
  }

  void multiply(nn::MatmulOp product) {
    const ArrayRef<std::int64_t> a = shapeOf(product.getA()), y = shapeOf(product.getY());
    Kernel kernel{.kind = KernelClass::product};
    kernel.n = static_cast<double>(y.back());
    kernel.m = y.size() > 1 ? static_cast<double>(y[y.size() - 2]) : 1;
    kernel.k = static_cast<double>(a[a.size() - (product.getTransposeA() ? 2 : 1)]);
    const double others = elements(product.getY()) / (kernel.m * kernel.n);
    const bool hasMany = shapeOf(product.getA()).size() > 2 && shapeOf(product.getB()).size() > 2;
    if (hasMany) {
      kernel.kind = KernelClass::batched;
      kernel.batch = others;
    } else {
      kernel.m *= others; // the leading dimensions of a are rows
    }
    kernel.isUnaligned =
        isUnaligned(product.getA()) || isUnaligned(product.getB()) || isUnaligned(product.getY());
    kernel.flops = 2 * elements(product.getY()) * kernel.k;
    kernel.bytes =
        (elements(product.getA()) + elements(product.getB()) + elements(product.getY())) *
        style.width();
    found.push_back(kernel);
    const bool isGradient = product->hasAttr(nn::backwardAttr) && product.getTransposeA();
    if (product.getB().getDefiningOp<nn::ParameterOp>() && !product->hasAttr(nn::backwardAttr))
      castParameter(elements(product.getB()));
    else if (isGradient && !hasMany)
      castParameter(elements(product.getY()));
    activate(product.getActivation(), elements(product.getY()));
  }

  void recur(Value x, Value weights, double times) {
    const ArrayRef<std::int64_t> shape = shapeOf(x);
    Kernel kernel{.kind = KernelClass::recurrent};
    kernel.steps = static_cast<double>(shape[0]) * times;
    kernel.m = static_cast<double>(shape[1]);
    kernel.n = static_cast<double>(shapeOf(weights)[1]);
    kernel.k = static_cast<double>(shapeOf(weights)[2]);
    kernel.flops = 2 * kernel.k * elements(x) * times;
    kernel.bytes = (3 * times * elements(x) + kernel.steps * elements(weights)) * style.width();
    found.push_back(kernel);
    castParameter(elements(weights));
  }

  /// Operations that move data: as many passes over it as the usual kernels take.
  void moveOnly() {
    const double width = style.width();
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](nn::BatchNormOp o) {
          move(KernelClass::normalization, (style.isTuned ? 2 : 3) * elements(o.getX()) * width);
        })
        .Case([&](nn::BatchNormBackwardOp o) {
          move(KernelClass::normalization, (style.isTuned ? 3 : 5) * elements(o.getX()) * width);
        })
        .Case([&](nn::LayerNormOp o) {
          move(KernelClass::normalization, 2 * elements(o.getX()) * mixedWidth());
        })
        .Case([&](nn::LayerNormBackwardOp o) {
          move(KernelClass::normalization, 5 * elements(o.getX()) * mixedWidth(), 2);
        })
        .Case([&](nn::SoftmaxOp o) {
          move(KernelClass::softmax, 2 * elements(o.getX()) * mixedWidth());
        })
        .Case([&](nn::SoftmaxBackwardOp o) {
          move(KernelClass::softmax, 3 * elements(o.getY()) * mixedWidth());
        })
        .Case([&](nn::CrossEntropyOp o) { lose(elements(o->getOperand(0))); })
        .Case([&](nn::DropoutOp o) {
          move(KernelClass::pointwise, elements(o.getX()) * (2 * width + 1));
        })
        .Case([&](nn::DropoutBackwardOp o) {
          move(KernelClass::pointwise, elements(o.getDx()) * (2 * width + 1));
        })
        .Case([&](nn::MaxPoolOp o) {
          move(KernelClass::pooling,
               elements(o.getX()) * width + elements(o.getY()) * (width + indexBytes));
        })
        .Case([&](nn::MaxPoolBackwardOp o) {
          move(KernelClass::pooling,
               2 * elements(o.getDx()) * width + elements(o.getDy()) * (width + indexBytes));
        })
        .Case<nn::AveragePoolOp, nn::AveragePoolBackwardOp>(
            [&](Operation *) { move(KernelClass::pooling, movedBytes()); })
        .Case([&](nn::SliceOp o) { // a view for eager kernels
          if (style.isFused)
            move(KernelClass::move, 2 * elements(o.getY()) * width);
        })
        .Case<nn::TransposeOp, nn::ConcatOp, nn::PadOp, nn::SliceBackwardOp>(
            [&](Operation *) { move(KernelClass::move, movedBytes()); })
        .Case<nn::GatherRowsOp, nn::ScatterRowsOp, nn::EmbeddingOp, nn::EmbeddingBackwardOp>(
            [&](Operation *) { move(KernelClass::embedding, movedBytes()); })
        .Case([&](nn::ReshapeOp) {})
        .Default([&](Operation *) { move(KernelClass::pointwise, movedBytes()); });
  }

  /// Cross entropy of `count` scores, forward and backward. Eager kernels write probabilities, and
  /// zeros where no label is, and convert scores of 16 bits to fp32 and their gradients back.
  void lose(double count) {
    if (style.isFused)
      return move(KernelClass::softmax, 3 * count * singleBytes, 2);
    move(KernelClass::softmax, (2 + 1 + 3) * count * singleBytes, 4);
    if (style.isHalf())
      move(KernelClass::pointwise, 2 * count * (halfBytes + singleBytes), 2);
  }

  double movedBytes() const { return countsOf(op)->bytes * style.width() / singleBytes; }

  /// Mixed precision normalizes rows, and takes their softmax, in fp32: it reads or writes that.
  double mixedWidth() const { return (style.width() + singleBytes) / 2; }

  Operation *op;
  const KernelStyle &style;
  std::vector<Kernel> found;
};

} // namespace

std::vector<Kernel> kernelsOf(Operation *op, const KernelStyle &style) {
  if (!countsOf(op) || isa<nn::UpdateOp>(op))
    return {};
  return OpKernels(op, style).kernels();
}

Kernel updateKernel(double elements, double bytes, OptimizerKind kind, const KernelStyle &style) {
  constexpr double launchesEach = 0.3; // eager optimizers update some tens of parameters at once
  const bool isScaled = style.precision == Precision::fp16 && !style.isTuned; // the loss
  const double unscaling = isScaled ? 2 * bytes : 0;
  return {.kind = KernelClass::optimizer,
          .bytes = updateCounts(elements, bytes, kind).bytes + unscaling,
          .launches = style.isFused ? launchesEach / 3 : launchesEach};
}

} // namespace syncline::cost

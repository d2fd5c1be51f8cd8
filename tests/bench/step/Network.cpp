// Layers with their backward, as the compiler would emit them.
#include "tests/bench/step/Network.h"

#include <algorithm>
#include <array>

namespace syncline::bench {

namespace {

float *result(void *const *outs) { return static_cast<float *>(outs[0]); }
const float *operand(const void *const *ins, int i) { return static_cast<const float *>(ins[i]); }

void add(void *const *outs, const void *const *ins, std::int64_t n, void *) {
  float *__restrict y = result(outs);
  const float *a = operand(ins, 0), *b = operand(ins, 1);
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = a[i] + b[i];
}

void addThenRelu(void *const *outs, const void *const *ins, std::int64_t n, void *) {
  float *__restrict y = result(outs);
  const float *a = operand(ins, 0), *b = operand(ins, 1);
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = std::max(a[i] + b[i], 0.0f);
}

void maskByResult(void *const *outs, const void *const *ins, std::int64_t n, void *) {
  float *__restrict dx = result(outs);
  const float *dy = operand(ins, 0), *y = operand(ins, 1);
  for (std::int64_t i = 0; i < n; ++i)
    dx[i] = y[i] > 0 ? dy[i] : 0;
}

Window square(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return {{kernel, kernel}, {stride, stride}, {1, 1}, {padding, padding}, {padding, padding}};
}

std::int64_t windowed(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                      std::int64_t padding) {
  return (extent + 2 * padding - kernel) / stride + 1;
}

} // namespace

Tensor Network::declare(Space space, ElementType type, const Shape &shape,
                        const std::string &name) {
  Shape padded = shape;
  if (shape.size() == 4 && space == Space::arena)
    padded[1] = (padded[1] + 15) / 16 * 16;
  const std::int64_t bytes = core::elementCount(padded) * core::elementBytes(type);
  const Tensor tensor = step.tensor({name, space, type, shape, used[space], bytes});
  used[space] += (bytes + 63) / 64 * 64;
  shapes[tensor.id] = shape;
  return tensor;
}

Tensor Network::image(const Shape &shape, ElementType type) {
  return declare(Space::arena, type, shape, nextName("t"));
}

std::pair<Tensor, Tensor> Network::parameter(const Shape &shape) {
  const std::string name = nextName("p");
  const Tensor value = declare(Space::parameters, ElementType::f32, shape, name);
  return {value, declare(Space::gradients, ElementType::f32, shape, name)};
}

void Network::addGradient(Tensor x, Tensor dx) {
  auto [found, isFirst] = gradients.emplace(x.id, dx);
  if (isFirst)
    return;
  const Tensor sum = image(shape(x));
  step.pointwise("sum", add, std::array{found->second, dx}, std::array{sum}, {true, true});
  found->second = sum;
}

Tensor Network::reluBackward(Tensor dy, Tensor y) {
  const Tensor dx = image(shape(y));
  step.pointwise("relu", maskByResult, std::array{dy, y}, std::array{dx}, {true, true});
  return dx;
}

Tensor Network::input(const Shape &shape) {
  const Tensor x = declare(Space::input, ElementType::f32, shape, "x");
  inputId = x.id;
  return x;
}

Tensor Network::conv(Tensor x, std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                     std::int64_t padding, bool relu, bool bias) {
  const Shape from = shape(x);
  const auto [w, dw] = parameter({channels, from[1], kernel, kernel});
  const auto [b, db] = bias ? parameter({channels}) : std::pair(none, none);
  const Window window = square(kernel, stride, padding);
  const Tensor y = image({from[0], channels, windowed(from[2], kernel, stride, padding),
                          windowed(from[3], kernel, stride, padding)});
  const std::string name = nextName("conv");
  step.conv(name, x, w, b, y, window, relu ? Activation::relu : Activation::none);
  backward.push_back([=, this, w = w, dw = dw, db = db] {
    const Tensor dy = relu ? reluBackward(gradient(y), y) : gradient(y);
    if (x.id != inputId) {
      const Tensor dx = image(from);
      step.convBackwardData(name, dy, w, dx, window);
      addGradient(x, dx);
    }
    step.convBackwardWeights(name, x, dy, dw, db, window);
  });
  return y;
}

Tensor Network::batchNorm(Tensor x, bool relu) {
  const Shape from = shape(x), channels{from[1]};
  const auto [scale, dscale] = parameter(channels);
  const auto [shift, dshift] = parameter(channels);
  const Tensor runningMean = declare(Space::state, ElementType::f32, channels, nextName("s"));
  const Tensor runningVariance = declare(Space::state, ElementType::f32, channels, nextName("s"));
  const Tensor mean = image(channels), variance = image(channels);
  const Tensor workspace = relu ? image(from, ElementType::u8) : none;
  const Tensor y = image(from);
  const Activation activation = relu ? Activation::relu : Activation::none;
  const std::string name = nextName("bn");
  step.batchNorm(name, x, scale, shift, runningMean, runningVariance, y, mean, variance, workspace,
                 1e-5, 0.1, activation);
  backward.push_back([=, this, scale = scale, dscale = dscale, dshift = dshift] {
    const Tensor dx = image(from);
    step.batchNormBackward(name, x, scale, mean, variance, workspace, gradient(y), dx, dscale,
                           dshift, 1e-5, activation);
    addGradient(x, dx);
  });
  return y;
}

Tensor Network::maxPool(Tensor x, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const Shape from = shape(x);
  const Shape to{from[0], from[1], windowed(from[2], kernel, stride, padding),
                 windowed(from[3], kernel, stride, padding)};
  const Tensor y = image(to), workspace = image(to, ElementType::u8);
  const Window window = square(kernel, stride, padding);
  step.maxPool("pool", x, y, workspace, window);
  backward.push_back([=, this] {
    const Tensor dx = image(from);
    step.maxPoolBackward("pool", gradient(y), workspace, dx, window);
    addGradient(x, dx);
  });
  return y;
}

Tensor Network::averagePool(Tensor x, std::int64_t kernel, std::int64_t stride) {
  const Shape from = shape(x);
  const Tensor y = image({from[0], from[1], windowed(from[2], kernel, stride, 0),
                          windowed(from[3], kernel, stride, 0)});
  const Window window = square(kernel, stride, 0);
  step.averagePool("pool", x, y, window);
  backward.push_back([=, this] {
    const Tensor dx = image(from);
    step.averagePoolBackward("pool", gradient(y), dx, window);
    addGradient(x, dx);
  });
  return y;
}

Tensor Network::addRelu(Tensor a, Tensor b) {
  const Tensor y = image(shape(a));
  step.pointwise("add", addThenRelu, std::array{a, b}, std::array{y}, {true, true});
  backward.push_back([=, this] {
    const Tensor d = reluBackward(gradient(y), y);
    addGradient(a, d);
    addGradient(b, d);
  });
  return y;
}

Tensor Network::concat(std::vector<Tensor> parts) {
  Shape to = shape(parts[0]);
  to[1] = 0;
  for (Tensor part : parts)
    to[1] += shape(part)[1];
  const Tensor y = image(to);
  step.concat("concat", parts, y, 1);
  backward.push_back([=, this] {
    std::int64_t begin = 0;
    for (Tensor part : parts) {
      const Tensor dx = image(shape(part));
      step.slice("concat", gradient(y), dx, {0, begin, 0, 0}, {1, 1, 1, 1});
      addGradient(part, dx);
      begin += shape(part)[1];
    }
  });
  return y;
}

Tensor Network::flatten(Tensor x) {
  const Shape from = shape(x);
  const Tensor y = image({from[0], core::elementCount(from) / from[0]});
  step.reshape("flatten", x, y);
  backward.push_back([=, this] {
    const Tensor dx = image(from);
    step.reshape("flatten", gradient(y), dx);
    addGradient(x, dx);
  });
  return y;
}

Tensor Network::linear(Tensor x, std::int64_t outputs, bool relu) {
  const Shape from = shape(x);
  const auto [w, dw] = parameter({outputs, from[1]});
  const auto [b, db] = parameter({outputs});
  const Tensor y = image({from[0], outputs});
  const std::string name = nextName("fc");
  step.matmul(name, x, false, w, true, b, y, relu ? Activation::relu : Activation::none);
  backward.push_back([=, this, w = w, dw = dw, db = db] {
    const Tensor dy = relu ? reluBackward(gradient(y), y) : gradient(y);
    const Tensor dx = image(from);
    step.matmul(name, dy, false, w, false, none, dx, Activation::none);
    addGradient(x, dx);
    step.matmul(name, dy, true, x, false, none, dw, Activation::none);
    step.reduce(name, Reduction::sum, dy, db, {0});
  });
  return y;
}

void Network::train(Tensor logits) {
  const Tensor target = declare(Space::target, ElementType::i64, {shape(logits)[0]}, "y");
  const Tensor loss = image({}), dlogits = image(shape(logits));
  step.crossEntropy("loss", logits, target, Tensor(), loss, dlogits);
  step.loss(loss);
  gradients[logits.id] = dlogits;
  step.phase("backward");
  for (auto layer = backward.rbegin(); layer != backward.rend(); ++layer)
    (*layer)();
  step.bucket(
      {.id = 0, .channel = 0, .scheme = "ring", .offset = 0, .extent = used[Space::parameters]});
  step.phase("update");
  step.update(0);
}

} // namespace syncline::bench

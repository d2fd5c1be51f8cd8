// Convolutional networks written against the seam, with their backward: a step to time without a
// compiler in the way.
#pragma once

#include "runtime/core/Executable.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace syncline::bench {

/// Appends layers to a StepBuilder and remembers how to go back. Arena tensors do not overlay: time
/// is measured here, not memory.
class Network {
public:
  explicit Network(core::Executable &executable) : step(executable.builder()) {}

  Tensor input(const Shape &shape);
  Tensor conv(Tensor x, std::int64_t channels, std::int64_t kernel, std::int64_t stride,
              std::int64_t padding, bool relu = false, bool bias = false);
  Tensor batchNorm(Tensor x, bool relu);
  Tensor maxPool(Tensor x, std::int64_t kernel, std::int64_t stride, std::int64_t padding);
  Tensor averagePool(Tensor x, std::int64_t kernel, std::int64_t stride);
  Tensor addRelu(Tensor a, Tensor b);
  Tensor concat(std::vector<Tensor> parts);
  Tensor linear(Tensor x, std::int64_t outputs, bool relu = false);
  /// [N, ...] to [N, rest].
  Tensor flatten(Tensor x);
  /// Cross entropy, the backward of everything, one bucket and its update.
  void train(Tensor logits);

  const Shape &shape(Tensor tensor) const { return shapes.at(tensor.id); }

private:
  Tensor declare(Space space, ElementType type, const Shape &shape, const std::string &name);
  Tensor image(const Shape &shape, ElementType type = ElementType::f32);
  std::pair<Tensor, Tensor> parameter(const Shape &shape);
  /// The gradient of y, which all its users have added to.
  Tensor gradient(Tensor y) const { return gradients.at(y.id); }
  void addGradient(Tensor x, Tensor dx);
  Tensor reluBackward(Tensor dy, Tensor y);
  std::string nextName(const char *kind) { return kind + std::to_string(names++); }

  StepBuilder &step;
  std::map<int, Shape> shapes;
  std::map<int, Tensor> gradients;
  std::map<Space, std::int64_t> used;
  std::vector<std::function<void()>> backward;
  int inputId = -1;
  int names = 0;
};

/// Builds the network into an executable's step: "resnet50", "vgg11", "densenet121". False when
/// there is no such network.
bool buildNetwork(const std::string &name, std::int64_t batch, core::Executable &executable);

} // namespace syncline::bench

// A step builder that writes down what it is told, and how to load a step.so.
#pragma once

#include "syncline/Step.h"

#include <map>
#include <string>
#include <vector>

namespace syncline::test {

class RecordingBuilder final : public StepBuilder {
public:
  std::vector<std::string> calls;                 ///< "conv conv x conv.weight none conv"
  std::vector<std::string> names;                 ///< of tensors, by id
  std::map<std::string, PointwiseKernel> kernels; ///< by layer
  std::map<std::string, RoundedKernel> rounded;   ///< likewise
  std::vector<Shape> shapes;                      ///< of tensors, by id

  Tensor tensor(const TensorInfo &info) override;
  void bucket(const BucketInfo &info) override;
  void phase(std::string_view name) override;
  void conv(std::string_view, Tensor, Tensor, Tensor, Tensor, const Window &, Activation) override;
  void convBackwardData(std::string_view, Tensor, Tensor, Tensor, const Window &) override;
  void convBackwardWeights(std::string_view, Tensor, Tensor, Tensor, Tensor,
                           const Window &) override;
  void matmul(std::string_view, Tensor, bool, Tensor, bool, Tensor, Tensor, Activation) override;
  void batchNorm(std::string_view, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor,
                 Tensor, double, double, Activation) override;
  void batchNormBackward(std::string_view, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor,
                         Tensor, Tensor, double, Activation) override;
  void maxPool(std::string_view, Tensor, Tensor, Tensor, const Window &) override;
  void maxPoolBackward(std::string_view, Tensor, Tensor, Tensor, const Window &) override;
  void averagePool(std::string_view, Tensor, Tensor, const Window &) override;
  void averagePoolBackward(std::string_view, Tensor, Tensor, const Window &) override;
  void layerNorm(std::string_view, Tensor, Tensor, Tensor, Tensor, double) override;
  void layerNormBackward(std::string_view, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor,
                         double) override;
  void lrn(std::string_view, Tensor, Tensor, std::int64_t, double, double, double) override;
  void lrnBackward(std::string_view, Tensor, Tensor, Tensor, std::int64_t, double, double,
                   double) override;
  void softmax(std::string_view, Tensor, Tensor, std::int64_t, bool) override;
  void softmaxBackward(std::string_view, Tensor, Tensor, Tensor, std::int64_t, bool) override;
  void crossEntropy(std::string_view, Tensor, Tensor, Tensor, Tensor) override;
  void meanSquaredError(std::string_view, Tensor, Tensor, Tensor, Tensor) override;
  void embedding(std::string_view, Tensor, Tensor, Tensor) override;
  void embeddingBackward(std::string_view, Tensor, Tensor, Tensor, Tensor) override;
  void concat(std::string_view, std::span<const Tensor>, Tensor, std::int64_t) override;
  void slice(std::string_view, Tensor, Tensor, const Shape &, const Shape &) override;
  void sliceBackward(std::string_view, Tensor, Tensor, const Shape &, const Shape &) override;
  void pad(std::string_view, Tensor, Tensor, const Shape &, double) override;
  void transpose(std::string_view, Tensor, Tensor, const Shape &) override;
  void reshape(std::string_view, Tensor, Tensor) override;
  void reduce(std::string_view, Reduction, Tensor, Tensor, const Shape &) override;
  void pointwise(std::string_view, PointwiseKernel, std::span<const Tensor>,
                 std::span<const Tensor>, const PointwiseInfo &) override;
  void dropout(std::string_view, Tensor, Tensor, Tensor, double) override;
  void dropoutBackward(std::string_view, Tensor, Tensor, Tensor, double) override;
  void loss(Tensor) override;
  void issue(int) override;
  void allGather(int) override;
  void gather(int, std::span<const Tensor>, std::span<const Tensor>) override;
  void wait(int) override;
  void update(int) override;

private:
  void record(std::string text, std::initializer_list<Tensor> tensors);
  std::string nameOf(Tensor tensor) const {
    return tensor.isValid() ? names[static_cast<std::size_t>(tensor.id)] : "none";
  }
};

/// Loads the object (for the rest of the process) and lets it build. Fails the test when it cannot,
/// and where the object was compiled for another backend.
void loadStep(const std::string &object, StepBuilder &builder, const std::string &backend = "cpu");

} // namespace syncline::test

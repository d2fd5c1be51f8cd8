// StepBuilder of the CUDA backend: turns each call into prepared commands of a Program.
//
// The methods are spread over files by kind: ConvolutionOps.cpp, MatmulOps.cpp,
// NormalizationOps.cpp, PoolingOps.cpp, LossOps.cpp, DataMovementOps.cpp, ElementwiseOps.cpp.
#pragma once

#include "runtime/cuda/Preparation.h"
#include "runtime/cuda/Program.h"

#include <functional>
#include <string>

namespace syncline::cuda {

class CudaBuilder final : public StepBuilder {
public:
  explicit CudaBuilder(Program &program) : program(program) {}

  Tensor tensor(const TensorInfo &info) override;
  void bucket(const BucketInfo &info) override;
  void phase(std::string_view name) override;

  void conv(std::string_view layer, Tensor x, Tensor w, Tensor bias, Tensor y, const Window &,
            Activation) override;
  void convBackwardData(std::string_view layer, Tensor dy, Tensor w, Tensor dx,
                        const Window &) override;
  void convBackwardWeights(std::string_view layer, Tensor x, Tensor dy, Tensor dw, Tensor dbias,
                           const Window &) override;

  void matmul(std::string_view layer, Tensor a, bool transposeA, Tensor b, bool transposeB,
              Tensor bias, Tensor y, Activation) override;

  void batchNorm(std::string_view layer, Tensor x, Tensor scale, Tensor shift, Tensor runningMean,
                 Tensor runningVariance, Tensor y, Tensor mean, Tensor variance, Tensor workspace,
                 double epsilon, double momentum, Activation) override;
  void batchNormBackward(std::string_view layer, Tensor x, Tensor scale, Tensor mean,
                         Tensor variance, Tensor workspace, Tensor dy, Tensor dx, Tensor dscale,
                         Tensor dshift, double epsilon, Activation) override;

  void maxPool(std::string_view layer, Tensor x, Tensor y, Tensor workspace,
               const Window &) override;
  void maxPoolBackward(std::string_view layer, Tensor dy, Tensor workspace, Tensor dx,
                       const Window &) override;
  void averagePool(std::string_view layer, Tensor x, Tensor y, const Window &) override;
  void averagePoolBackward(std::string_view layer, Tensor dy, Tensor dx, const Window &) override;

  void lrn(std::string_view layer, Tensor x, Tensor y, std::int64_t size, double alpha, double beta,
           double bias) override;
  void lrnBackward(std::string_view layer, Tensor x, Tensor dy, Tensor dx, std::int64_t size,
                   double alpha, double beta, double bias) override;

  void softmax(std::string_view layer, Tensor x, Tensor y, std::int64_t axis,
               bool logarithm) override;
  void softmaxBackward(std::string_view layer, Tensor y, Tensor dy, Tensor dx, std::int64_t axis,
                       bool logarithm) override;
  void crossEntropy(std::string_view layer, Tensor logits, Tensor target, Tensor loss,
                    Tensor dlogits) override;
  void meanSquaredError(std::string_view layer, Tensor y, Tensor target, Tensor loss,
                        Tensor dy) override;

  void concat(std::string_view layer, std::span<const Tensor> xs, Tensor y,
              std::int64_t axis) override;
  void slice(std::string_view layer, Tensor x, Tensor y, const Shape &starts,
             const Shape &steps) override;
  void sliceBackward(std::string_view layer, Tensor dy, Tensor dx, const Shape &starts,
                     const Shape &steps) override;
  void pad(std::string_view layer, Tensor x, Tensor y, const Shape &begins, double value) override;
  void transpose(std::string_view layer, Tensor x, Tensor y, const Shape &permutation) override;
  void reshape(std::string_view layer, Tensor x, Tensor y) override;
  void reduce(std::string_view layer, Reduction, Tensor x, Tensor y, const Shape &axes) override;
  void pointwise(std::string_view layer, PointwiseKernel, std::span<const Tensor> ins,
                 std::span<const Tensor> outs, const PointwiseInfo &) override;
  void dropout(std::string_view layer, Tensor x, Tensor y, Tensor mask, double ratio) override;
  void dropoutBackward(std::string_view layer, Tensor dy, Tensor mask, Tensor dx,
                       double ratio) override;

  void loss(Tensor loss) override;
  void issue(int bucket) override;
  void gather(int bucket, std::span<const Tensor> ins, std::span<const Tensor> outs) override;
  void wait(int bucket) override;
  void update(int bucket) override;

private:
  /// Appends a compute operation: runs the preparation, keeps its commands; what goes wrong
  /// becomes the sticky error, with the operation's and the layer's name.
  void prepare(std::string_view name, std::string_view layer,
               const std::function<void(Preparation &)> &body);
  /// The same for an operation that is appended already; `where` begins its error.
  void prepareLast(const std::string &where, const std::function<void(Preparation &)> &body);

  Program &program;
};

} // namespace syncline::cuda

// Local response normalization and softmax by cuDNN, on dense tensors. A tensor with any spatial
// dimensions is described as [N, C, positions, 1].
#include "runtime/core/Strides.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/dnn/Descriptors.h"

namespace syncline::cuda {

namespace {

constexpr float one = 1, zero = 0;

TensorDescriptor aroundDimension(const Preparation &p, Tensor tensor, std::int64_t axis) {
  p.expectCountable(tensor);
  const core::AxisView view = core::aroundAxis(p.shape(tensor), axis);
  return describeTensor({view.outer, view.extent, view.inner, 1});
}

std::int64_t bytesOf(const Preparation &p, Tensor tensor) {
  return p.count(tensor) * static_cast<std::int64_t>(sizeof(float));
}

using LrnDescriptor =
    Descriptor<cudnnLRNDescriptor_t, cudnnCreateLRNDescriptor, cudnnDestroyLRNDescriptor>;

LrnDescriptor lrnDescriptor(const Preparation &p, Tensor x, std::int64_t size, double alpha,
                            double beta, double bias) {
  if (p.rank(x) < 2)
    p.fail("'" + p.info(x).name + "': expected at least 2 dimensions");
  if (size < CUDNN_LRN_MIN_N || size > CUDNN_LRN_MAX_N || beta < CUDNN_LRN_MIN_BETA ||
      bias < CUDNN_LRN_MIN_K)
    p.fail("expected a size of 1 to 16, a beta of at least 0.01 and a bias of at least 0.00001");
  LrnDescriptor lrn;
  SYNCLINE_CHECK(cudnnSetLRNDescriptor(lrn, static_cast<unsigned>(size), alpha, beta, bias));
  return lrn;
}

cudnnSoftmaxAlgorithm_t softmaxKind(bool logarithm) {
  return logarithm ? CUDNN_SOFTMAX_LOG : CUDNN_SOFTMAX_ACCURATE;
}

} // namespace

void CudaBuilder::lrn(std::string_view layer, Tensor x, Tensor y, std::int64_t size, double alpha,
                      double beta, double bias) {
  prepare("lrn", layer, [&](Preparation &p) {
    core::checkAlike(p, x, {y});
    p.call("cudnn",
           [&program = program, from = p.input(x), to = p.output(y),
            lrn = lrnDescriptor(p, x, size, alpha, beta, bias), data = aroundDimension(p, x, 1)] {
             SYNCLINE_CHECK(cudnnLRNCrossChannelForward(program.device.cudnn, lrn,
                                                        CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, data,
                                                        from, &zero, data, to));
           });
  });
}

void CudaBuilder::lrnBackward(std::string_view layer, Tensor x, Tensor dy, Tensor dx,
                              std::int64_t size, double alpha, double beta, double bias) {
  prepare("lrnBackward", layer, [&](Preparation &p) {
    core::checkAlike(p, x, {dy, dx});
    // cuDNN needs y, which the plan does not keep, so it is computed again.
    p.call("cudnn", [&program = program, again = p.scratchPlace<float>(bytesOf(p, x)),
                     from = p.input(x), gradient = p.input(dy), to = p.output(dx),
                     lrn = lrnDescriptor(p, x, size, alpha, beta, bias),
                     data = aroundDimension(p, x, 1)] {
      SYNCLINE_CHECK(cudnnLRNCrossChannelForward(program.device.cudnn, lrn,
                                                 CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, data, from,
                                                 &zero, data, again));
      SYNCLINE_CHECK(cudnnLRNCrossChannelBackward(program.device.cudnn, lrn,
                                                  CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, data, again,
                                                  data, gradient, data, from, &zero, data, to));
    });
  });
}

void CudaBuilder::softmax(std::string_view layer, Tensor x, Tensor y, std::int64_t axis,
                          bool logarithm) {
  prepare("softmax", layer, [&](Preparation &p) {
    core::checkAlike(p, x, {y});
    p.call("cudnn", [=, &program = program, from = p.input(x), to = p.output(y),
                     data = aroundDimension(p, x, p.expectAxis(x, axis))] {
      SYNCLINE_CHECK(cudnnSoftmaxForward(program.device.cudnn, softmaxKind(logarithm),
                                         CUDNN_SOFTMAX_MODE_CHANNEL, &one, data, from, &zero, data,
                                         to));
    });
  });
}

void CudaBuilder::softmaxBackward(std::string_view layer, Tensor y, Tensor dy, Tensor dx,
                                  std::int64_t axis, bool logarithm) {
  prepare("softmaxBackward", layer, [&](Preparation &p) {
    core::checkAlike(p, y, {dy, dx});
    p.call("cudnn", [=, &program = program, result = p.input(y), gradient = p.input(dy),
                     to = p.output(dx), data = aroundDimension(p, y, p.expectAxis(y, axis))] {
      SYNCLINE_CHECK(cudnnSoftmaxBackward(program.device.cudnn, softmaxKind(logarithm),
                                          CUDNN_SOFTMAX_MODE_CHANNEL, &one, data, result, data,
                                          gradient, &zero, data, to));
    });
  });
}

} // namespace syncline::cuda

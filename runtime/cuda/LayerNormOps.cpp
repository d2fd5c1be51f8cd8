// Layer normalization, by the backend's kernels: sums in double, on dense tensors.
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/kernels/LayerNormKernels.h"

namespace syncline::cuda {

namespace {

LayerNormShape matrixOf(const Preparation &p, Tensor x, Tensor scale, double epsilon) {
  p.expectCountable(x);
  const std::int64_t columns = p.count(scale);
  return {static_cast<std::uint32_t>(p.count(x) / columns), static_cast<std::uint32_t>(columns),
          epsilon};
}

Place<const float> inputOrNull(Preparation &p, Tensor tensor) {
  return tensor.isValid() ? p.input(tensor) : Place<const float>();
}

} // namespace

void CudaBuilder::layerNorm(std::string_view layer, Tensor x, Tensor scale, Tensor shift, Tensor y,
                            double epsilon) {
  prepare("layerNorm", layer, [&](Preparation &p) {
    core::checkLayerNorm(p, x, {scale, shift});
    p.expectLike(y, x);
    p.call("rows", [&program = program, shape = matrixOf(p, x, scale, epsilon), x = p.input(x),
                    scale = p.input(scale), shift = inputOrNull(p, shift), y = p.output(y)] {
      SYNCLINE_CHECK(cuda::layerNorm(program.device.compute, shape, x, scale, shift, y));
    });
  });
}

void CudaBuilder::layerNormBackward(std::string_view layer, Tensor x, Tensor scale, Tensor dy,
                                    Tensor dx, Tensor dscale, Tensor dshift, double epsilon) {
  prepare("layerNormBackward", layer, [&](Preparation &p) {
    core::checkLayerNorm(p, x, {scale, dscale, dshift});
    p.expectLike(dy, x);
    if (dx.isValid())
      p.expectLike(dx, x);
    const LayerNormShape shape = matrixOf(p, x, scale, epsilon);
    p.call("rows",
           [&program = program, shape, scratch = p.scratchPlace<std::byte>(layerNormScratch(shape)),
            x = p.input(x), scale = p.input(scale), dy = p.input(dy), dx = p.outputOrNull(dx),
            dscale = p.outputOrNull(dscale), dshift = p.outputOrNull(dshift)] {
             SYNCLINE_CHECK(cuda::layerNormBackward(program.device.compute, shape,
                                                    {x, scale, dy, dx, dscale, dshift}, scratch));
           });
  });
}

} // namespace syncline::cuda

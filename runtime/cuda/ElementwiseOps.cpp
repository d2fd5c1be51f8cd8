// Generated pointwise kernels, reductions, dropout and noise.
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/NormSums.h"
#include "runtime/cuda/Reductions.h"
#include "runtime/cuda/kernels/Kernels.h"

#include <algorithm>

namespace syncline::cuda {

namespace {

/// The layout in which a flat loop reads its operands and writes its results: channels last if an
/// operand is, and rounded if an operand is.
Layout flatLayout(const Preparation &p, std::span<const Tensor> ins) {
  Layout layout;
  for (Tensor in : ins) {
    layout.isChannelsLast |= p.layout(in).isChannelsLast;
    if (p.layout(in).type != p.info(in).type)
      layout.type = ElementType::bf16;
  }
  return layout;
}

/// Whether a loop reads or writes this f32 operand as bf16, because it is stored so. Not when a
/// tensor on the other side occupies the same place with elements of another size (a result in the
/// place of an operand that ends here): threads would overwrite elements that other threads have
/// not read yet.
bool staysRounded(const Preparation &p, Tensor tensor, std::span<const Tensor> others) {
  const core::StepTensor &own = p.info(tensor);
  const ElementType type = p.layout(tensor).type;
  return type != own.type && std::none_of(others.begin(), others.end(), [&](Tensor other) {
           return p.layout(other).type != type && core::overlap(own, p.info(other));
         });
}

} // namespace

void CudaBuilder::pointwise(std::string_view layer, PointwiseKernel kernel,
                            std::span<const Tensor> ins, std::span<const Tensor> outs,
                            const PointwiseInfo &info) {
  prepare("pointwise", layer, [&](Preparation &p) {
    core::checkPointwise(p, ins, outs, info);
    if (joinsNorm(p, ins, outs, info))
      return;
    const Layout stored = info.flat ? flatLayout(p, ins) : Layout{};
    for (Tensor out : outs)
      p.layOut(out, stored);
    std::uint64_t rounded = 0, operand = 1; // masks
    auto computed = [&](Tensor tensor, std::span<const Tensor> others) {
      const bool isRounded = info.rounded && staysRounded(p, tensor, others);
      rounded |= isRounded ? operand : 0;
      operand <<= 1;
      return Layout{isRounded ? ElementType::bf16 : p.info(tensor).type, stored.isChannelsLast};
    };
    std::vector<Place<const std::byte>> operands;
    std::vector<Place<std::byte>> results;
    for (Tensor in : ins)
      operands.push_back(p.input<std::byte>(in, computed(in, outs)));
    for (Tensor out : outs)
      results.push_back(p.output<std::byte>(out, computed(out, ins)));
    const auto sum = offerSum(p, ins, outs[0], info, operands, results[0]);
    p.call(info.flat ? "flat" : "dense", [&program = program, kernel, mixed = info.rounded, rounded,
                                          operands, results, sum, n = p.count(outs[0])] {
      if (sum && sum->isTaken)
        return;
      const std::vector<const void *> from(operands.begin(), operands.end());
      const std::vector<void *> to(results.begin(), results.end());
      // Generated launchers return nothing, and a library may have left an error behind a call that
      // succeeded: it is cleared, so that what is reported below is this launch's.
      cudaGetLastError();
      if (rounded != 0)
        mixed(to.data(), from.data(), n, rounded, program.device.compute);
      else
        kernel(to.data(), from.data(), n, program.device.compute);
      check(cudaGetLastError(), "generated kernel");
    });
  });
}

void CudaBuilder::reduce(std::string_view layer, Reduction reduction, Tensor x, Tensor y,
                         const Shape &axes) {
  prepare("reduce", layer, [&](Preparation &p) {
    core::checkReduce(p, x, y, axes);
    const Layout lies = p.layout(x);
    const std::optional<ReduceMap> map = reduceMap(p.shape(x), stridesOf(lies, p.shape(x)), axes);
    if (!map)
      p.fail("expected at most " + std::to_string(maxLoops) + " dimensions that are walked apart");
    const char *implementation = reduction == Reduction::maximum ? "maxima" : "sums";
    withElement(lies.type, [&]<typename T> {
      appendReduction(p, implementation, reduction, *map, p.input<T>(x, lies), p.output(y));
    });
  });
}

void CudaBuilder::dropout(std::string_view layer, Tensor x, Tensor y, Tensor mask, double ratio) {
  prepare("dropout", layer, [&](Preparation &p) {
    core::checkDropout(p, x, y, mask);
    p.call("philox", [&program = program, n = p.count(x), scale = core::keptScale(ratio),
                      numbers = core::dropoutStream(program.options, layer, ratio),
                      from = p.input(x), to = p.output(y), kept = p.output<std::uint8_t>(mask)] {
      if (program.isEvaluation)
        return SYNCLINE_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(float),
                                              cudaMemcpyDeviceToDevice, program.device.compute));
      SYNCLINE_CHECK(
          cuda::dropout(program.device.compute, numbers, program.step, from, to, kept, scale, n));
    });
  });
}

void CudaBuilder::dropoutBackward(std::string_view layer, Tensor dy, Tensor mask, Tensor dx,
                                  double ratio) {
  prepare("dropoutBackward", layer, [&](Preparation &p) {
    core::checkDropout(p, dy, dx, mask);
    p.call("mask", [&program = program, n = p.count(dy), scale = core::keptScale(ratio),
                    from = p.input(dy), kept = p.input<std::uint8_t>(mask), to = p.output(dx)] {
      SYNCLINE_CHECK(cuda::dropoutBackward(program.device.compute, from, kept, to, scale, n));
    });
  });
}

void CudaBuilder::noise(std::string_view layer, Tensor y, std::int64_t distribution, double first,
                        double second, double evaluated) {
  prepare("noise", layer, [&](Preparation &p) {
    core::checkNoise(p, y, distribution);
    p.call(
        "philox", [&program = program, n = p.count(y), to = p.output(y),
                   drawn = core::noiseStream(program.options, layer, distribution, first, second),
                   evaluated] {
          const auto stream = program.isEvaluation ? core::constantNoise(drawn, evaluated) : drawn;
          SYNCLINE_CHECK(cuda::noise(program.device.compute, stream, program.step, to, n));
        });
  });
}

} // namespace syncline::cuda

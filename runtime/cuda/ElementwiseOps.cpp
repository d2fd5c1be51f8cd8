// Generated pointwise kernels, reductions, dropout.
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Kernels.h"
#include "runtime/cuda/Reductions.h"

namespace syncline::cuda {

namespace {

/// In which order a loop over operands of one shape reads them, and how results lie: channels last
/// and rounded where an operand is.
Layout flatLayout(const Preparation &p, std::span<const Tensor> ins) {
  Layout layout;
  for (Tensor in : ins) {
    layout.isChannelsLast |= p.layout(in).isChannelsLast;
    if (p.layout(in).type != p.info(in).type)
      layout.type = ElementType::bf16;
  }
  return layout;
}

} // namespace

void CudaBuilder::pointwise(std::string_view layer, PointwiseKernel kernel,
                            std::span<const Tensor> ins, std::span<const Tensor> outs,
                            const PointwiseInfo &info) {
  prepare("pointwise", layer, [&](Preparation &p) {
    checkPointwise(p, ins, outs, info);
    const Layout stored = info.flat ? flatLayout(p, ins) : Layout{};
    // Generated loops are typed as the plan declares.
    auto computed = [&](Tensor tensor) {
      return Layout{p.info(tensor).type, stored.isChannelsLast};
    };
    std::vector<Place<const std::byte>> operands;
    std::vector<Place<std::byte>> results;
    for (Tensor in : ins)
      operands.push_back(p.input<std::byte>(in, computed(in)));
    for (Tensor out : outs) {
      p.layOut(out, stored);
      results.push_back(p.output<std::byte>(out, computed(out)));
    }
    p.call(info.flat ? "flat" : "dense",
           [&program = program, kernel, operands, results, n = p.count(outs[0])] {
             const std::vector<const void *> from(operands.begin(), operands.end());
             const std::vector<void *> to(results.begin(), results.end());
             kernel(to.data(), from.data(), n, program.device.compute);
             check(cudaGetLastError(), "generated kernel");
           });
  });
}

void CudaBuilder::reduce(std::string_view layer, Reduction reduction, Tensor x, Tensor y,
                         const Shape &axes) {
  prepare("reduce", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    checkReduce(p, x, y, axes);
    const Layout lies = p.layout(x);
    const std::optional<ReduceMap> map = reduceMap(p.shape(x), stridesOf(lies, p.shape(x)), axes);
    if (!map)
      p.fail("expected at most " + std::to_string(maxLoops) + " dimensions that are walked apart");
    const double divisor = reduction == Reduction::mean ? static_cast<double>(map->terms) : 1.0;
    withElement(lies.type, [&]<typename T> {
      appendReduction(p, "sums", *map, p.input<T>(x, lies), p.output(y), divisor);
    });
  });
}

void CudaBuilder::dropout(std::string_view layer, Tensor x, Tensor y, Tensor mask, double ratio) {
  prepare("dropout", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    checkDropout(p, x, y, mask);
    p.call("philox", [&program = program, n = p.count(x), scale = keptScale(ratio),
                      numbers = dropoutStream(program.options, layer, ratio), from = p.input(x),
                      to = p.output(y), kept = p.output<std::uint8_t>(mask)] {
      check(cuda::dropout(program.device.compute, numbers, program.step, from, to, kept, scale, n),
            "dropout");
    });
  });
}

void CudaBuilder::dropoutBackward(std::string_view layer, Tensor dy, Tensor mask, Tensor dx,
                                  double ratio) {
  prepare("dropoutBackward", layer, [&](Preparation &p) {
    p.expectType(dy, {ElementType::f32});
    checkDropout(p, dy, dx, mask);
    p.call("mask", [&program = program, n = p.count(dy), scale = keptScale(ratio),
                    from = p.input(dy), kept = p.input<std::uint8_t>(mask), to = p.output(dx)] {
      check(applyMask(program.device.compute, from, kept, to, scale, n), "applyMask");
    });
  });
}

} // namespace syncline::cuda

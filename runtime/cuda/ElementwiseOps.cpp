// Generated pointwise kernels, reductions, dropout.
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Kernels.h"

namespace syncline::cuda {

void CudaBuilder::pointwise(std::string_view layer, PointwiseKernel kernel,
                            std::span<const Tensor> ins, std::span<const Tensor> outs,
                            const PointwiseInfo &info) {
  prepare("pointwise", layer, [&](Preparation &p) {
    checkPointwise(p, ins, outs, info);
    std::vector<const void *> operands;
    std::vector<void *> results;
    for (Tensor in : ins)
      operands.push_back(p.input<void>(in));
    for (Tensor out : outs)
      results.push_back(p.output<void>(out));
    p.call(info.flat ? "flat" : "dense",
           [&program = program, kernel, operands, results, n = p.count(outs[0])] {
             kernel(results.data(), operands.data(), n, program.device.compute);
             check(cudaGetLastError(), "generated kernel");
           });
  });
}

void CudaBuilder::reduce(std::string_view layer, Reduction reduction, Tensor x, Tensor y,
                         const Shape &axes) {
  prepare("reduce", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    checkReduce(p, x, y, axes);
    const std::optional<ReduceMap> map = reduceMap(p.shape(x), axes);
    if (!map)
      p.fail("expected at most " + std::to_string(maxLoops) + " dimensions that are walked apart");
    const double divisor = reduction == Reduction::mean ? static_cast<double>(map->terms) : 1.0;
    const std::int64_t parts = reduceParts(*map);
    const Scratch scratch = p.scratch(parts == 1 ? 0 : parts * map->results * 8);
    p.call("sums",
           [&program = program, map = *map, divisor, scratch, from = p.input(x), to = p.output(y)] {
             check(reduceTerms(program.device.compute, map, from, to, divisor,
                               program.at<double>(scratch)),
                   "reduceTerms");
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

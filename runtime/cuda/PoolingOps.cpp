// Pooling, by kernels of ours: see PoolMap.h for why.
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Kernels.h"

namespace syncline::cuda {

namespace {

PoolMap mapOf(const Preparation &p, Tensor x, Tensor y, const Window &window) {
  p.expectType(x, {ElementType::f32});
  checkPool(p, x, y, window);
  if (window.kernel.size() > 3)
    p.fail("expected 1 to 3 spatial dimensions, got " + std::to_string(window.kernel.size()));
  return poolMap(p.shape(x), p.shape(y), window);
}

std::uint32_t number(const Preparation &p, Tensor tensor) {
  return static_cast<std::uint32_t>(p.count(tensor));
}

template <typename Tap>
void appendMaxPool(Preparation &p, const PoolMap &map, Tensor x, Tensor y, Tensor workspace) {
  p.call("window", [&program = p.program, map, n = number(p, y), from = p.input(x),
                    to = p.output(y), taps = p.output<Tap>(workspace)] {
    check(maxPool(program.device.compute, map, from, to, taps, n), "maxPool");
  });
}

template <typename Tap>
void appendMaxPoolBackward(Preparation &p, const PoolMap &map, Tensor dy, Tensor workspace,
                           Tensor dx) {
  p.call("window", [&program = p.program, map, n = number(p, dx), from = p.input(dy),
                    taps = p.input<Tap>(workspace), to = p.output(dx)] {
    check(maxPoolBackward(program.device.compute, map, from, taps, to, n), "maxPoolBackward");
  });
}

} // namespace

void CudaBuilder::maxPool(std::string_view layer, Tensor x, Tensor y, Tensor workspace,
                          const Window &window) {
  prepare("maxPool", layer, [&](Preparation &p) {
    const PoolMap map = mapOf(p, x, y, window);
    checkPoolWorkspace(p, y, workspace, window);
    if (p.info(workspace).type == ElementType::u8)
      appendMaxPool<std::uint8_t>(p, map, x, y, workspace);
    else
      appendMaxPool<std::int32_t>(p, map, x, y, workspace);
  });
}

void CudaBuilder::maxPoolBackward(std::string_view layer, Tensor dy, Tensor workspace, Tensor dx,
                                  const Window &window) {
  prepare("maxPoolBackward", layer, [&](Preparation &p) {
    const PoolMap map = mapOf(p, dx, dy, window);
    checkPoolWorkspace(p, dy, workspace, window);
    if (p.info(workspace).type == ElementType::u8)
      appendMaxPoolBackward<std::uint8_t>(p, map, dy, workspace, dx);
    else
      appendMaxPoolBackward<std::int32_t>(p, map, dy, workspace, dx);
  });
}

void CudaBuilder::averagePool(std::string_view layer, Tensor x, Tensor y, const Window &window) {
  prepare("averagePool", layer, [&](Preparation &p) {
    const PoolMap map = mapOf(p, x, y, window);
    p.call("window",
           [&program = program, map, n = number(p, y), from = p.input(x), to = p.output(y)] {
             check(cuda::averagePool(program.device.compute, map, from, to, n), "averagePool");
           });
  });
}

void CudaBuilder::averagePoolBackward(std::string_view layer, Tensor dy, Tensor dx,
                                      const Window &window) {
  prepare("averagePoolBackward", layer, [&](Preparation &p) {
    const PoolMap map = mapOf(p, dx, dy, window);
    p.call("window",
           [&program = program, map, n = number(p, dx), from = p.input(dy), to = p.output(dx)] {
             check(cuda::averagePoolBackward(program.device.compute, map, from, to, n),
                   "averagePoolBackward");
           });
  });
}

} // namespace syncline::cuda

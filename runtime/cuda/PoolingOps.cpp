// Pooling, by the backend's kernels; PoolMap.h says why. Results have the layout of operands.
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

namespace {

/// The map and the layout of one pooling.
struct Pooling {
  PoolMap map;
  Layout layout;   ///< of operand and result
  std::uint32_t n; ///< number of the result's elements
};

/// `from` and `to` are x and y in the forward pass, and dy and dx in the backward pass.
Pooling poolingOf(const Preparation &p, Tensor x, Tensor y, const Window &window, Tensor from,
                  Tensor to) {
  p.expectType(x, {ElementType::f32});
  core::checkPool(p, x, y, window);
  if (window.kernel.size() > 3)
    p.fail("expected 1 to 3 spatial dimensions, got " + std::to_string(window.kernel.size()));
  const Layout layout = p.imageLayout(from);
  return {poolMap(p.shape(x), p.shape(y), window, layout.isChannelsLast), layout,
          static_cast<std::uint32_t>(p.count(to))};
}

template <typename T, typename Tap>
void appendMaxPool(Preparation &p, const Pooling &pool, Tensor x, Tensor y, Tensor workspace) {
  const Layout taps{p.info(workspace).type, pool.layout.isChannelsLast};
  p.call("window", [&program = p.program, pool, from = p.input<T>(x, pool.layout),
                    to = p.output<T>(y, pool.layout), taps = p.output<Tap>(workspace, taps)] {
    SYNCLINE_CHECK(maxPool<T, Tap>(program.device.compute, pool.map, from, to, taps, pool.n));
  });
}

template <typename T, typename Tap>
void appendMaxPoolBackward(Preparation &p, const Pooling &pool, Tensor dy, Tensor workspace,
                           Tensor dx) {
  const Layout taps{p.info(workspace).type, pool.layout.isChannelsLast};
  p.call("window", [&program = p.program, pool, from = p.input<T>(dy, pool.layout),
                    taps = p.input<Tap>(workspace, taps), to = p.output<T>(dx, pool.layout)] {
    SYNCLINE_CHECK(
        maxPoolBackward<T, Tap>(program.device.compute, pool.map, from, taps, to, pool.n));
  });
}

} // namespace

void CudaBuilder::maxPool(std::string_view layer, Tensor x, Tensor y, Tensor workspace,
                          const Window &window) {
  prepare("maxPool", layer, [&](Preparation &p) {
    const Pooling pool = poolingOf(p, x, y, window, x, y);
    core::checkPoolWorkspace(p, y, workspace, window);
    withElement(pool.layout.type, [&]<typename T> {
      if (p.info(workspace).type == ElementType::u8)
        appendMaxPool<T, std::uint8_t>(p, pool, x, y, workspace);
      else
        appendMaxPool<T, std::int32_t>(p, pool, x, y, workspace);
    });
  });
}

void CudaBuilder::maxPoolBackward(std::string_view layer, Tensor dy, Tensor workspace, Tensor dx,
                                  const Window &window) {
  prepare("maxPoolBackward", layer, [&](Preparation &p) {
    const Pooling pool = poolingOf(p, dx, dy, window, dy, dx);
    core::checkPoolWorkspace(p, dy, workspace, window);
    withElement(pool.layout.type, [&]<typename T> {
      if (p.info(workspace).type == ElementType::u8)
        appendMaxPoolBackward<T, std::uint8_t>(p, pool, dy, workspace, dx);
      else
        appendMaxPoolBackward<T, std::int32_t>(p, pool, dy, workspace, dx);
    });
  });
}

void CudaBuilder::averagePool(std::string_view layer, Tensor x, Tensor y, const Window &window) {
  prepare("averagePool", layer, [&](Preparation &p) {
    const Pooling pool = poolingOf(p, x, y, window, x, y);
    withElement(pool.layout.type, [&]<typename T> {
      p.call("window", [&program = program, pool, from = p.input<T>(x, pool.layout),
                        to = p.output<T>(y, pool.layout)] {
        SYNCLINE_CHECK(cuda::averagePool<T>(program.device.compute, pool.map, from, to, pool.n));
      });
    });
  });
}

void CudaBuilder::averagePoolBackward(std::string_view layer, Tensor dy, Tensor dx,
                                      const Window &window) {
  prepare("averagePoolBackward", layer, [&](Preparation &p) {
    const Pooling pool = poolingOf(p, dx, dy, window, dy, dx);
    withElement(pool.layout.type, [&]<typename T> {
      p.call("window", [&program = program, pool, from = p.input<T>(dy, pool.layout),
                        to = p.output<T>(dx, pool.layout)] {
        SYNCLINE_CHECK(
            cuda::averagePoolBackward<T>(program.device.compute, pool.map, from, to, pool.n));
      });
    });
  });
}

} // namespace syncline::cuda

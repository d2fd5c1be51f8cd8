// A loop after products and convolutions, and repairs after the other kernels.
//
// A separate ReLU costs a pass over the result. oneDNN 2.6 cannot keep NaN in the kernel: its clips
// drop NaN like its ReLU, a PReLU post-op exists only for the reference convolution (400 times
// slower), and a leaky ReLU leaves negative values close to 0.
#include "runtime/cpu/NotANumber.h"

#include "runtime/core/Clones.h"
#include "runtime/cpu/Loops.h"

#include <array>
#include <cmath>

namespace syncline::cpu {

namespace {

bool isNan(float value) { return std::isnan(value); }
/// Whether a bf16 is NaN: all bits of the exponent are set, and some bits of the fraction.
bool isNan(std::uint16_t bits) { return (bits & 0x7fff) > 0x7f80; }

SYNCLINE_CLONES void reluPart(float *y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = y[i] < 0 ? 0.0f : y[i];
}

SYNCLINE_CLONES void reluPart(std::uint16_t *y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = ((y[i] & 0x8000) != 0) & !isNan(y[i]) ? std::uint16_t{0} : y[i];
}

/// Runs from the end, which the kernel wrote last and caches still hold.
template <typename T> void relu(T *y, std::int64_t n) {
  parallelParts(n,
                [&](std::int64_t begin, std::int64_t end) { reluPart(y + n - end, end - begin); });
}

std::int64_t elementsOf(const Layout &layout) {
  return static_cast<std::int64_t>(layout.get_size()) /
         static_cast<std::int64_t>(dnnl::memory::data_type_size(layout.data_type()));
}

/// Whether one of n elements is NaN.
bool holdsNan(const float *x, std::int64_t n) {
  int found = 0;
#pragma omp simd reduction(| : found)
  for (std::int64_t i = 0; i < n; ++i)
    found |= x[i] != x[i];
  return found != 0;
}

bool holdsNan(const std::uint16_t *x, std::int64_t n) {
  int found = 0;
#pragma omp simd reduction(| : found)
  for (std::int64_t i = 0; i < n; ++i)
    found |= isNan(x[i]);
  return found != 0;
}

using Index = std::array<std::int64_t, DNNL_MAX_NDIMS>;

/// Calls visit(index) with every index of the shape, the last dimension quickest.
template <typename Visit> void forEachIndex(const Shape &shape, const Visit &visit) {
  Index index{};
  for (std::int64_t left = core::elementCount(shape); left > 0; --left) {
    visit(index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

std::int64_t offset(const Layout &layout, const Index &index) {
  return elementOffset(layout, std::span(index).first(layout.dims().size()));
}

/// The operands and the geometry of one max pooling, for its repair.
struct Maxima {
  Window window;
  Layout x, y, workspace;

  /// The position of the last NaN in the window of y's element `result`, or -1.
  template <typename T> std::int64_t lastNan(const T *from, const Index &result) const {
    const Shape &kernel = window.kernel, extents = x.dims();
    std::int64_t tap = 0, last = -1;
    forEachIndex(kernel, [&](const Index &at) {
      Index index = result;
      bool isInside = true;
      for (std::size_t i = 0; i < kernel.size(); ++i) {
        index[i + 2] =
            result[i + 2] * window.strides[i] - window.padsBegin[i] + at[i] * window.dilations[i];
        isInside &= index[i + 2] >= 0 && index[i + 2] < extents[i + 2];
      }
      if (isInside && isNan(from[offset(x, index)]))
        last = tap;
      ++tap;
    });
    return last;
  }

  template <typename T> void repair(const T *from, T *to, std::byte *taps) const {
    if (!holdsNan(from, elementsOf(x)))
      return;
    forEachIndex(y.dims(), [&](const Index &result) {
      const std::int64_t tap = lastNan(from, result);
      if (tap < 0)
        return;
      to[offset(y, result)] =
          std::is_same_v<T, float> ? static_cast<T>(NAN) : static_cast<T>(0x7fc0);
      const std::int64_t place = offset(workspace, result);
      if (workspace.data_type() == DataType::u8)
        reinterpret_cast<std::uint8_t *>(taps)[place] = static_cast<std::uint8_t>(tap);
      else
        reinterpret_cast<std::int32_t *>(taps)[place] = static_cast<std::int32_t>(tap);
    });
  }
};

} // namespace

void appendRelu(Preparation &p, const dnnl::memory &y) {
  const Layout layout = y.get_desc();
  withElement(layout, [&]<typename T>(T) {
    p.call("relu", [y, n = elementsOf(layout)] { relu(pointer<T>(y), n); });
  });
}

void appendNanMaxima(Preparation &p, const Window &window, const dnnl::memory &x,
                     const dnnl::memory &y, const dnnl::memory &workspace) {
  const Maxima maxima{window, x.get_desc(), y.get_desc(), workspace.get_desc()};
  withElement(maxima.x, [&]<typename T>(T) {
    p.call("", [=] { maxima.repair(pointer<T>(x), pointer<T>(y), pointer<std::byte>(workspace)); });
  });
}

} // namespace syncline::cpu

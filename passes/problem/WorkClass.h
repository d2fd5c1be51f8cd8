// Classes of operations that messages slow by factors of their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace syncline::problem {

enum class WorkClass : std::uint8_t {
  products, ///< convolutions, products of matrices, recurrent layers, reconstruction
  memory,   ///< all other operations, which live on the memory's bandwidth
};

inline constexpr std::size_t workClasses = 2;

/// The class of a kernel of the runtime by its name (syncline/Kernels.inc), as a trace has it too.
inline WorkClass workOfKernel(std::string_view kernel) {
  for (std::string_view product : {"conv", "convBackwardData", "convBackwardWeights", "matmul",
                                   "recurrent", "recurrentBackward"})
    if (kernel == product)
      return WorkClass::products;
  return WorkClass::memory;
}

/// Something for each class.
template <typename T> struct ByClass {
  std::array<T, workClasses> of{};

  T &operator[](WorkClass work) { return of[static_cast<std::size_t>(work)]; }
  const T &operator[](WorkClass work) const { return of[static_cast<std::size_t>(work)]; }
  friend bool operator==(const ByClass &, const ByClass &) = default;
};

} // namespace syncline::problem

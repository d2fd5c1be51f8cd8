// The place of an operand: in a space, or in scratch memory, whose address is known once the step
// is complete.
#pragma once

#include "runtime/cuda/Program.h"

#include <cstdint>
#include <type_traits>

namespace syncline::cuda {

/// A pointer to T for commands, null for an absent operand. Its address may be used only while
/// commands run.
template <typename T> class Place {
public:
  Place() = default;
  explicit Place(T *own) : own(own) {}
  Place(const Program &program, const Scratch &scratch) : program(&program), scratch(scratch) {}
  /// Converts a place of T to a place of const T.
  template <typename U>
    requires std::is_convertible_v<U *, T *>
  Place(const Place<U> &other)
      : own(other.own), program(other.program), scratch(other.scratch), elements(other.elements) {}

  /// Whether there is an operand.
  bool isValid() const { return own || program; }
  operator T *() const {
    T *const begin = program ? program->at<T>(scratch) : own;
    return begin ? begin + elements : nullptr;
  }
  /// The place n elements further.
  Place<T> after(std::int64_t n) const {
    Place<T> moved = *this;
    moved.elements += n;
    return moved;
  }
  /// This place with elements of another type. Precondition: the place was not
  /// moved by after().
  template <typename U> Place<U> as() const {
    return program ? Place<U>(*program, scratch) : Place<U>(reinterpret_cast<U *>(own));
  }
  /// The largest power of two up to 256 that divides the address.
  std::uint64_t alignment() const {
    const auto begin = program ? static_cast<std::uint64_t>(scratch.offset)
                               : static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(own));
    const std::uint64_t bits = (begin + static_cast<std::uint64_t>(elements) * sizeof(T)) | 256;
    return bits & (~bits + 1);
  }

private:
  template <typename U> friend class Place;

  T *own = nullptr;
  const Program *program = nullptr; ///< owner of scratch memory
  Scratch scratch;
  std::int64_t elements = 0;
};

} // namespace syncline::cuda

// Where an operand lies: in a space, or in scratch, whose address is known once the step is
// complete.
#pragma once

#include "runtime/cuda/Program.h"

#include <cstdint>
#include <type_traits>

namespace syncline::cuda {

/// A pointer to T that commands take; null for none. Its address may be asked for while commands
/// run, not before.
template <typename T> class Place {
public:
  Place() = default;
  explicit Place(T *own) : own(own) {}
  Place(const Program &program, const Scratch &scratch) : program(&program), scratch(scratch) {}
  /// A place of T is one of const T.
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
  /// So many elements further.
  Place<T> after(std::int64_t n) const {
    Place<T> moved = *this;
    moved.elements += n;
    return moved;
  }
  /// The same bytes as elements of another type. Precondition: not moved by after().
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
  const Program *program = nullptr; ///< of scratch
  Scratch scratch;
  std::int64_t elements = 0;
};

} // namespace syncline::cuda

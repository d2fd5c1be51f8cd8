// Status and Result<T>: errors as values with a category.
//
// A category says where the cause lies: with the user (badInput, badUsage), with the network or
// another rank (peerLost), or in Syncline (internal). Exit codes follow from the category (see
// exitCode). No exception leaves a module of the runtime.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace syncline {

enum class ErrorKind {
  badInput, ///< a file, a value or the environment is wrong; exit code 1
  badUsage, ///< the command line is wrong; exit code 2
  peerLost, ///< another rank died, got stuck or disagrees; exit code 1
  internal, ///< a defect of Syncline; exit code 3
};

/// Success, or one error with a category and one clear message (lower-case start, no final period).
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status ok() { return {}; }
  static Status error(ErrorKind kind, std::string message) {
    Status s;
    s.failure.emplace(kind, std::move(message));
    return s;
  }
  static Status badInput(std::string message) {
    return error(ErrorKind::badInput, std::move(message));
  }

  bool isOk() const { return !failure; }
  explicit operator bool() const { return isOk(); }

  /// The error's category. Whoever asks a good status has a defect: internal.
  ErrorKind kind() const { return failure ? failure->first : ErrorKind::internal; }
  /// The error's message; empty for a good status.
  const std::string &message() const {
    static const std::string none;
    return failure ? failure->second : none;
  }

  /// 0 success, 1 bad input or a lost peer, 2 bad command line, 3 a defect of Syncline.
  int exitCode() const {
    if (isOk())
      return 0;
    switch (kind()) {
    case ErrorKind::badInput:
    case ErrorKind::peerLost:
      return 1;
    case ErrorKind::badUsage:
      return 2;
    case ErrorKind::internal:
      return 3;
    }
    return 3;
  }

private:
  std::optional<std::pair<ErrorKind, std::string>> failure;
};

/// A value or the Status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  /// Precondition: !status.isOk().
  Result(Status status) : failure(std::move(status)) {}

  bool isOk() const { return value.has_value(); }
  explicit operator bool() const { return isOk(); }
  const Status &status() const { return failure; }

  /// Precondition for all access: isOk().
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

private:
  std::optional<T> value;
  Status failure;
};

/// The error that SYNCLINE_TRY returns.
inline Status errorOf(Status &&status) { return std::move(status); }
template <typename T> Status errorOf(Result<T> &&result) { return result.status(); }

} // namespace syncline

/// Returns from the function around it if the Status or Result that the expression makes is an
/// error, with that error.
#define SYNCLINE_TRY(...)                                                                          \
  do {                                                                                             \
    if (auto synclineTried = __VA_ARGS__; !synclineTried)                                          \
      return ::syncline::errorOf(std::move(synclineTried));                                        \
  } while (false)

/// Declares `name`, the Result that the expression makes, and returns from the function around it
/// if that is an error, with the error. Behind it, *name is the value.
#define SYNCLINE_TRY_GET(name, ...)                                                                \
  auto name = __VA_ARGS__;                                                                         \
  if (!name)                                                                                       \
  return name.status()

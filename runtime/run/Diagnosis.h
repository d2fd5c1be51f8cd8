// Finding the first value that is not finite, when a run must end because of one.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/transport/Group.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace syncline::run {

/// The index of the first element that is not finite, or nothing. Elements of integer types are
/// always finite.
std::optional<std::int64_t> firstNotFinite(ElementType type, std::span<const std::byte> values);

/// The samples of one step on this rank.
struct StepSamples {
  struct Input {
    std::string name;
    ElementType type;
    Shape shape; ///< the first dimension is the batch
    std::span<const std::byte> values;
  };
  std::vector<Input> inputs;
  std::vector<std::string> names; ///< as Dataset::nameOf(); empty for synthetic samples
};

/// "element 7 of sample 12 of 'x.npy' is nan", with the input's name where there are several, or
/// empty where all samples are finite.
std::string badSample(const StepSamples &samples);

/// Runs the computations of step `number` again, without messages and updates, on the input and the
/// target that are in place. Returns a description of what is not finite first: a sample, a
/// parameter or a state before the step, or the result of an operation. The text is empty where all
/// values are finite. Operations that read values of other ranks are left out. The call changes the
/// values of arena, gradients and states. Errors: the backend's.
Result<std::string> findNotFinite(core::Executable &executable, std::int64_t number,
                                  const StepSamples &samples);

/// One rank's findings about a step that was not finite.
struct NotFinite {
  std::int64_t step = std::numeric_limits<std::int64_t>::max(); ///< this value for no such step
  bool hasLoss = false; ///< the loss was finite, so an update was not
  std::string cause;    ///< what this rank found; empty for nothing
  int rank = 0;         ///< this rank
};

/// The error with which the run ends. All workers call it together and get the same error, which
/// names the earliest step and the first rank that found a cause in it. With a null `group` this
/// rank's findings are all. Errors: peerLost during the exchange.
Status notFiniteError(transport::Group *group, const NotFinite &own, double seconds);

} // namespace syncline::run

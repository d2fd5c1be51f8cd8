// Where values stop being finite, looked for once a run has to end for it.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/transport/Group.h"

#include <optional>
#include <string>

namespace syncline {

/// Whether all elements are finite; elements of whole types are. The index of the first that is
/// not, or nothing.
std::optional<std::int64_t> firstNotFinite(ElementType type, std::span<const std::byte> values);

/// The samples of one step on this rank.
struct StepSamples {
  ElementType type;
  Shape shape; ///< with the batch in front
  std::span<const std::byte> values;
  std::string file;                      ///< empty: invented
  std::span<const std::int64_t> indices; ///< in the file
};

/// Runs the computations of step `number` again, without messages and updates, on the input and the
/// target that are in place, and says what is not finite first: a sample, a parameter or a state
/// before the step, or the result of an operation. An operation that reads what other ranks sent is
/// left out. Empty where all is finite. Afterwards arena, gradients and states have other values.
/// Errors: the backend's.
Result<std::string> findNotFinite(Executable &executable, std::int64_t number,
                                  const StepSamples &samples);

/// What a rank knows of a step that was not finite.
struct NotFinite {
  std::int64_t step;
  bool hasLoss;      ///< the loss was finite, so that it was an update
  std::string cause; ///< this rank's, or empty
};

/// The error by which the run ends: the same on all workers, who call it together, in the name of
/// the first that has a cause. `group` is null on one rank. Errors: peerLost, while they exchange.
Status notFiniteError(Group *group, const NotFinite &own, double seconds);

} // namespace syncline

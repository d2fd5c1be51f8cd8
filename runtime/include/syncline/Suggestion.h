// Suggestions for misspelt names. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace syncline {

/// The name in `known` with the fewest edits from `unknown` (a byte added, removed or changed, or
/// two neighbours exchanged). Among equals the one with the longest common beginning wins, then the
/// first. Empty where every name needs more than one edit and edits of more than a third of
/// `unknown`. Only the first 64 bytes of `unknown` count.
std::string_view nearestName(std::string_view unknown, std::span<const std::string_view> known);

/// The end of an error message about an unknown key, unit or option: ", did you mean 'bandwidth'?"
/// where a name in `known` is near, otherwise ", expected one of 'a', 'b'" with all names.
std::string suggestion(std::string_view unknown, std::span<const std::string_view> known);

/// As suggestion(), for lists that are too long to print. Without a near name the text is ",
/// expected a name such as 'a', 'b'" with at most `maxNames` different names: first names that
/// contain `unknown`, then by length of the common beginning, then by edits.
std::string suggestionOfMany(std::string_view unknown, std::span<const std::string_view> known,
                             std::size_t maxNames = 5);

/// The names as text: "'a', 'b', 'c'".
std::string quotedList(std::span<const std::string_view> known);

} // namespace syncline

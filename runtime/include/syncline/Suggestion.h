// What a misspelt name may have been meant for. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace syncline {

/// The one of `known` that takes fewest edits of `unknown` (a byte more, less or other, or two
/// neighbours exchanged); of several the one that begins most alike, then the first. Empty where
/// none is near: more than a third of `unknown`, and more than one byte, would have to change. Of
/// `unknown` the first 64 bytes count.
std::string_view nearestName(std::string_view unknown, std::span<const std::string_view> known);

/// For a key, unit or option that nobody knows: ", did you mean 'bandwidth'?" where one of `known`
/// is near, otherwise ", expected one of 'a', 'b'" with all of them.
std::string suggestion(std::string_view unknown, std::span<const std::string_view> known);

/// The same where all of `known` would be too many to list: otherwise ", expected a name such as
/// 'a', 'b'" with at most `maxNames` different ones: first those that contain `unknown`, then by
/// how far they begin alike, then by edits.
std::string suggestionOfMany(std::string_view unknown, std::span<const std::string_view> known,
                             std::size_t maxNames = 5);

/// `known` as "'a', 'b', 'c'".
std::string quotedList(std::span<const std::string_view> known);

} // namespace syncline

// Texts that come from files, other ranks and paths, for people.
#pragma once

#include <cstddef>
#include <string>

namespace syncline {

/// `text` as one line of UTF-8 that moves no cursor: control characters and line breaks become '?',
/// what is no UTF-8 becomes U+FFFD. A text of more than `most` bytes is shortened, first in what
/// stands in single quotes, then at its end. Any thread may call it.
std::string printable(std::string text, std::size_t most = 4000);

} // namespace syncline

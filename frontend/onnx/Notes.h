// What the user is told about choices that an import made.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace syncline::frontend {

class Notes {
public:
  void add(std::string text);
  /// A note about one name. Those of one text become one line: "'a', 'b' and 3 more: TEXT".
  void add(const std::string &text, const std::string &name) { add(text, name, 0); }
  /// The line says how many bytes its names have together.
  void add(const std::string &text, const std::string &name, std::int64_t bytes);

  /// The lines, in the order in which the first of each was added.
  std::vector<std::string> lines() const;

private:
  struct Note {
    std::string text;
    std::int64_t bytes;             ///< 0 where the note is about no bytes
    std::vector<std::string> names; ///< none where the text is about no name
  };
  std::vector<Note> notes;
};

/// "'a', 'b', 'c' and 12 more".
std::string listNames(const std::vector<std::string> &names);

} // namespace syncline::frontend

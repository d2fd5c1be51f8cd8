// What the user is told about choices that an import made.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace syncline::frontend {

class Notes {
public:
  void add(std::string text);
  /// A note about one name. Those of one text become one line: "'a', 'b' and 3 more: TEXT".
  void add(const std::string &text, const std::string &name);

  /// The lines, in the order in which the first of each was added.
  std::vector<std::string> lines() const;

private:
  struct Note {
    std::string text;
    std::vector<std::string> names; ///< none where the text is about no name
  };
  std::vector<Note> notes;
};

/// "'a', 'b', 'c' and 12 more".
std::string listNames(const std::vector<std::string> &names);

} // namespace syncline::frontend

// Gathers notes and folds equal ones.
#include "frontend/onnx/Notes.h"

#include <algorithm>

using namespace syncline::frontend;

std::string syncline::frontend::listNames(const std::vector<std::string> &names) {
  constexpr std::size_t shown = 3;
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < shown; ++i)
    list += (i ? ", '" : "'") + names[i] + "'";
  if (names.size() > shown)
    list += " and " + std::to_string(names.size() - shown) + " more";
  return list;
}

void Notes::add(std::string text) { notes.push_back({std::move(text), {}}); }

void Notes::add(const std::string &text, const std::string &name) {
  auto same = std::ranges::find_if(
      notes, [&](const Note &note) { return !note.names.empty() && note.text == text; });
  if (same == notes.end())
    notes.push_back({text, {name}});
  else
    same->names.push_back(name);
}

std::vector<std::string> Notes::lines() const {
  std::vector<std::string> lines;
  for (const Note &note : notes)
    lines.push_back((note.names.empty() ? "" : listNames(note.names) + ": ") + note.text);
  return lines;
}

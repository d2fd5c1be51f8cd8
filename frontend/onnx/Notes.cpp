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

void Notes::add(std::string text) { notes.push_back({std::move(text), 0, {}}); }

void Notes::add(const std::string &text, const std::string &name, std::int64_t bytes) {
  auto same = std::ranges::find_if(
      notes, [&](const Note &note) { return !note.names.empty() && note.text == text; });
  if (same == notes.end())
    same = notes.insert(notes.end(), {text, 0, {}});
  same->names.push_back(name);
  same->bytes += bytes;
}

std::vector<std::string> Notes::lines() const {
  std::vector<std::string> lines;
  for (const Note &note : notes) {
    std::string about = note.names.empty() ? "" : listNames(note.names);
    if (note.bytes)
      about += " (" + std::to_string(note.bytes) + (note.names.size() > 1 ? " B in all)" : " B)");
    lines.push_back((about.empty() ? "" : about + ": ") + note.text);
  }
  return lines;
}

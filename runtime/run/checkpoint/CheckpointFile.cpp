// Writing and reading a rank's parts.
#include "runtime/run/checkpoint/CheckpointFile.h"

#include "runtime/run/checkpoint/DurableFile.h"
#include "runtime/run/checkpoint/Sha256.h"
#include "runtime/run/plan/PlanJson.h"
#include "syncline/JsonDepth.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace syncline::run {
namespace {

constexpr char magic[] = "SYNCKPT1"; // its zero is not written
constexpr std::size_t magicBytes = sizeof magic - 1;
constexpr std::uint64_t longestTable = 1u << 28;
constexpr std::int64_t mostSlots = 1 << 20;

constexpr std::array<std::string_view, 4> kindNames{"parameter", "state", "optimizer", "exchange"};

std::string headOf(std::span<const CheckpointPart> parts) {
  nlohmann::json table = nlohmann::json::array();
  for (const auto &[key, bytes] : parts)
    table.push_back({{"kind", kindNames[static_cast<std::size_t>(key.kind)]},
                     {"name", key.name},
                     {"slot", key.slot},
                     {"begin", key.begin},
                     {"bytes", bytes.size()}});
  const std::string text = nlohmann::json{{"parts", std::move(table)}}.dump();
  const std::uint64_t length = text.size();
  std::string head(magic, magicBytes);
  head.append(reinterpret_cast<const char *>(&length), sizeof length);
  return head + text;
}

/// Throws SchemaError or std::out_of_range where the table is malformed.
CheckpointKey keyOf(const Json &part) {
  const auto kind = get<std::string>(part, "kind");
  const auto found = std::ranges::find(kindNames, kind);
  if (found == kindNames.end())
    throw std::out_of_range(kind);
  return {static_cast<CheckpointKey::Kind>(found - kindNames.begin()),
          get<std::string>(part, "name"), static_cast<int>(size(part, "slot", 0, mostSlots)),
          size(part, "begin", 0)};
}

Status malformed(const std::string &path) {
  return Status::badInput("'" + path + "': expected a rank's file of a checkpoint");
}

} // namespace

std::string describe(const CheckpointKey &key) {
  switch (key.kind) {
  case CheckpointKey::Kind::parameter:
  case CheckpointKey::Kind::state:
    return "'" + key.name + "'";
  case CheckpointKey::Kind::optimizer:
    return "moment " + std::to_string(key.slot) + " of '" + key.name + "' from byte " +
           std::to_string(key.begin);
  case CheckpointKey::Kind::exchange:
    return "part " + std::to_string(key.slot) + " of the exchanges";
  }
  return "";
}

Result<CheckpointDigest> writeCheckpointFile(const std::string &path,
                                             std::span<const CheckpointPart> parts) {
  SYNCLINE_TRY_GET(file, DurableFile::create(path));
  Sha256 sha;
  CheckpointDigest digest;
  const auto add = [&](std::span<const std::byte> bytes) {
    // Short pieces are still in the cache when they are written.
    constexpr std::size_t piece = 1u << 20;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const auto next = bytes.subspan(at, std::min(piece, bytes.size() - at));
      sha.add(next);
      SYNCLINE_TRY(file->write(next));
    }
    digest.bytes += static_cast<std::int64_t>(bytes.size());
    return Status::ok();
  };
  const std::string head = headOf(parts);
  SYNCLINE_TRY(add(std::as_bytes(std::span(head))));
  for (const CheckpointPart &part : parts)
    SYNCLINE_TRY(add(part.bytes));
  SYNCLINE_TRY(file->commit());
  digest.sha256 = sha.hex();
  return digest;
}

Result<CheckpointFile> CheckpointFile::open(const std::string &path) {
  SYNCLINE_TRY_GET(file, data::InputFile::open(path, data::Links::refused));
  char head[magicBytes] = {};
  std::uint64_t length = 0;
  constexpr std::int64_t headBytes = magicBytes + sizeof length;
  if (file->size() < headBytes)
    return malformed(path);
  SYNCLINE_TRY(file->read(0, std::as_writable_bytes(std::span(head))));
  SYNCLINE_TRY(file->read(magicBytes, std::as_writable_bytes(std::span(&length, 1))));
  if (std::memcmp(head, magic, magicBytes) != 0 || length > longestTable ||
      static_cast<std::int64_t>(length) > file->size() - headBytes)
    return malformed(path);
  std::string text(length, '\0');
  SYNCLINE_TRY(file->read(headBytes, std::as_writable_bytes(std::span(text))));
  CheckpointFile opened(std::move(*file));
  return opened.place(text, headBytes + static_cast<std::int64_t>(length))
             ? Result<CheckpointFile>(std::move(opened))
             : malformed(path);
}

/// Finds the place of each part of the table; the first part begins at `begin`. Whether the table
/// is well-formed and its parts reach to the end of the file.
bool CheckpointFile::place(const std::string &table, std::int64_t begin) {
  if (!checkJsonDepth(table, file.path(), 8))
    return false;
  try {
    const Json json = Json::parse(table);
    for (const Json &part : json.at("parts")) {
      const std::int64_t bytes = size(part, "bytes", 0);
      CheckpointKey key = keyOf(part);
      if (bytes > file.size() - begin || !places.try_emplace(key, begin).second)
        return false;
      lengths.emplace(std::move(key), bytes);
      begin += bytes;
    }
  } catch (const SchemaError &) {
    return false;
  } catch (const std::exception &) {
    return false;
  }
  return begin == file.size();
}

Status CheckpointFile::read(const CheckpointKey &key, std::int64_t from, std::span<std::byte> to) {
  return file.read(places.at(key) + from, to);
}

} // namespace syncline::run

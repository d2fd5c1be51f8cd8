// Writing and reading a rank's parts.
#include "runtime/run/CheckpointFile.h"

#include "runtime/run/DurableFile.h"
#include "runtime/run/Sha256.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

namespace syncline::run {
namespace {

constexpr char magic[] = "SYNCKPT1"; // its zero is not written
constexpr std::size_t magicBytes = sizeof magic - 1;
constexpr std::uint64_t longestTable = 1u << 28;

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

/// Throws nlohmann::json::exception or std::out_of_range where the table is malformed.
CheckpointKey keyOf(const nlohmann::json &part) {
  const auto kind = part.at("kind").get<std::string>();
  const auto found = std::ranges::find(kindNames, kind);
  if (found == kindNames.end())
    throw std::out_of_range(kind);
  return {static_cast<CheckpointKey::Kind>(found - kindNames.begin()),
          part.at("name").get<std::string>(), part.at("slot").get<int>(),
          part.at("begin").get<std::int64_t>()};
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
  Result<DurableFile> file = DurableFile::create(path);
  if (!file)
    return file.status();
  Sha256 sha;
  CheckpointDigest digest;
  const auto add = [&](std::span<const std::byte> bytes) {
    // Short pieces are still in the cache when they are written.
    constexpr std::size_t piece = 1u << 20;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const auto next = bytes.subspan(at, std::min(piece, bytes.size() - at));
      sha.add(next);
      if (Status s = file->write(next); !s)
        return s;
    }
    digest.bytes += static_cast<std::int64_t>(bytes.size());
    return Status::ok();
  };
  const std::string head = headOf(parts);
  Status s = add(std::as_bytes(std::span(head)));
  for (std::size_t i = 0; i < parts.size() && s; ++i)
    s = add(parts[i].bytes);
  if (s)
    s = file->commit();
  if (!s)
    return s;
  digest.sha256 = sha.hex();
  return digest;
}

Result<CheckpointFile> CheckpointFile::open(const std::string &path) {
  CheckpointFile opened;
  opened.path = path;
  opened.file.reset(std::fopen(path.c_str(), "rb"));
  if (!opened.file)
    return Status::badInput("'" + path + "': cannot open: " + std::strerror(errno));
  char head[magicBytes] = {};
  std::uint64_t length = 0;
  if (std::fread(head, 1, magicBytes, opened.file.get()) != magicBytes ||
      std::memcmp(head, magic, magicBytes) != 0 ||
      std::fread(&length, sizeof length, 1, opened.file.get()) != 1 || length > longestTable)
    return malformed(path);
  std::string text(length, '\0');
  if (std::fread(text.data(), 1, length, opened.file.get()) != length)
    return malformed(path);
  auto begin = static_cast<std::int64_t>(magicBytes + sizeof length + length);
  try {
    const nlohmann::json table = nlohmann::json::parse(text);
    for (const auto &part : table.at("parts")) {
      const auto bytes = part.at("bytes").get<std::int64_t>();
      CheckpointKey key = keyOf(part);
      if (bytes < 0 || !opened.places.try_emplace(key, begin).second)
        return malformed(path);
      opened.lengths.emplace(std::move(key), bytes);
      begin += bytes;
    }
  } catch (const std::exception &) {
    return malformed(path);
  }
  return opened;
}

Status CheckpointFile::read(const CheckpointKey &key, std::int64_t from, std::span<std::byte> to) {
  if (fseeko(file.get(), static_cast<off_t>(places.at(key) + from), SEEK_SET) == 0 &&
      std::fread(to.data(), 1, to.size(), file.get()) == to.size())
    return Status::ok();
  return Status::badInput("'" + path + "': cannot read " + describe(key) + ": " +
                          (std::ferror(file.get()) ? std::strerror(errno) : "it is cut off"));
}

} // namespace syncline::run

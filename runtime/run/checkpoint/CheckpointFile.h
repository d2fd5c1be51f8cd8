// The file of one rank in a checkpoint: parts of the run's state, by key.
//
// Layout, little endian:
//
//     bytes 0 to 7     "SYNCKPT1"
//     bytes 8 to 15    u64: length of the table
//     the table        JSON: {"parts": [{"kind", "name", "slot", "begin", "bytes"}, ...]}
//     the parts        one behind the other, without gaps, to the end of the file
//
// The manifest holds the file's length and its SHA-256 (CheckpointManifest.h).
#pragma once

#include "runtime/data/InputFile.h"
#include "syncline/Status.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace syncline::run {

/// What a part is. Keys are unique within a file.
struct CheckpointKey {
  enum class Kind {
    parameter, ///< a tensor's values, dense and row-major
    state,     ///< likewise, of a running statistic or another tensor that is not trained
    optimizer, ///< a stretch of a parameter's moments, in the backend's layout
    exchange,  ///< what the exchanges of weights hold (core::Exchanges::state), by number
  } kind = Kind::parameter;
  std::string name;       ///< of the tensor; empty for exchanges
  int slot = 0;           ///< optimizer: which moment; exchange: the number
  std::int64_t begin = 0; ///< optimizer: bytes from the parameter's offset

  auto operator<=>(const CheckpointKey &) const = default;
};

/// "moment 0 of 'fc.weight' from byte 64"
std::string describe(const CheckpointKey &key);

struct CheckpointPart {
  CheckpointKey key;
  std::vector<std::byte> bytes;
};

/// What the manifest says about a file.
struct CheckpointDigest {
  std::int64_t bytes = 0;
  std::string sha256; ///< in hexadecimal
};

/// Writes a file by DurableFile; its folder exists. Errors: badInput, naming the path.
Result<CheckpointDigest> writeCheckpointFile(const std::string &path,
                                             std::span<const CheckpointPart> parts);

/// Reads parts of one file. Not thread-safe.
class CheckpointFile {
public:
  /// Reads the table. Errors: badInput, naming the path, for a file that is missing, a link, or
  /// malformed, or whose parts are not all that lies behind the table.
  static Result<CheckpointFile> open(const std::string &path);

  /// The length in bytes of each part.
  const std::map<CheckpointKey, std::int64_t> &parts() const { return lengths; }
  /// Reads the bytes of a part from `from` on. Precondition: the part has them. Errors: badInput,
  /// naming the path.
  Status read(const CheckpointKey &key, std::int64_t from, std::span<std::byte> to);

private:
  bool place(const std::string &table, std::int64_t begin);
  explicit CheckpointFile(data::InputFile file) : file(std::move(file)) {}
  data::InputFile file;
  std::map<CheckpointKey, std::int64_t> lengths, places; ///< places: bytes from the file's begin
};

} // namespace syncline::run

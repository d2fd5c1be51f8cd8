// A transport on whose links both ends compare a tag with each message.
#pragma once

#include "runtime/transport/Transport.h"

namespace syncline::transport {

/// All messages of links that it opens have the tag of set(), which whoever uses the links changes
/// between messages, on all ranks around the same ones. The links may outlive this object; the
/// whole transport outlives both.
class TaggedTransport : public Transport {
public:
  /// `meaning` says for errors what a tag, which may be any, stands for: "a sum of 'f32'".
  TaggedTransport(Transport &whole, std::string (*meaning)(std::uint8_t tag));

  int rank() const override { return whole.rank(); }
  int size() const override { return whole.size(); }
  Result<std::vector<std::unique_ptr<Link>>> open(std::span<const LinkEnd> ends) override;
  Traffic traffic() const override { return whole.traffic(); }

  void set(std::uint8_t present) { tag->present = present; }

private:
  Transport &whole;
  const std::shared_ptr<MessageTag> tag = std::make_shared<MessageTag>();
};

} // namespace syncline::transport

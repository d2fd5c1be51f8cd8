// Links with a tag.
#include "runtime/transport/TaggedTransport.h"

namespace syncline::transport {

TaggedTransport::TaggedTransport(Transport &whole, std::string (*meaning)(std::uint8_t tag))
    : whole(whole) {
  tag->meaning = meaning;
}

Result<std::vector<std::unique_ptr<Link>>> TaggedTransport::open(std::span<const LinkEnd> ends) {
  std::vector<LinkEnd> tagged(ends.begin(), ends.end());
  for (LinkEnd &end : tagged)
    end.tag = tag;
  return whole.open(tagged);
}

} // namespace syncline::transport

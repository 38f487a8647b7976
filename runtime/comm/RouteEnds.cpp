#include "comm/RouteEnds.h"

#include <string>

namespace par::comm {

static std::string way(const RouteEnds &ends) {
  return " from rank " + std::to_string(ends.from) + " to rank " + std::to_string(ends.to);
}

io::Status RouteEnds::unequal(int64_t sent, int64_t expected) const {
  return io::Status::error("rank " + std::to_string(from) + " sends " + std::to_string(sent) +
                           " bytes to rank " + std::to_string(to) + ", which expects " +
                           std::to_string(expected) + (sent == expected ? " in other buffers" : "") +
                           "; give every process the same package");
}

io::Status RouteEnds::tooMany(size_t most) const {
  return io::Status::error("more than " + std::to_string(most) + " messages" + way(*this) +
                           " are under way; wait for the oldest before the next is posted");
}

io::Status RouteEnds::tooManyBuffers(size_t count, size_t room) const {
  return io::Status::error("a message" + way(*this) + " has " + std::to_string(count) +
                           " buffers, its route has room for " + std::to_string(room) +
                           "; make the route for as many");
}

io::Status RouteEnds::notPosted(uint64_t number) const {
  return io::Status::error("message " + std::to_string(number) + way(*this) +
                           " was not posted; post it before it is waited for");
}

io::Status RouteEnds::notOpened() const {
  return io::Status::error("no connection for messages" + way(*this) +
                           " was made; call openRoutes before route, and name two different ranks");
}

} // namespace par::comm

#include "comm/process/Address.h"

#include <algorithm>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

namespace par::comm {

static const sockaddr_in &four(const Address &address) {
  return reinterpret_cast<const sockaddr_in &>(address.storage);
}
static const sockaddr_in6 &six(const Address &address) {
  return reinterpret_cast<const sockaddr_in6 &>(address.storage);
}

int Address::port() const {
  return ntohs(storage.ss_family == AF_INET6 ? six(*this).sin6_port : four(*this).sin_port);
}

void Address::setPort(int port) {
  if (storage.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6 &>(storage).sin6_port = htons(uint16_t(port));
  else
    reinterpret_cast<sockaddr_in &>(storage).sin_port = htons(uint16_t(port));
}

std::string Address::text() const {
  Address plain = *this;
  // An IPv4 address that a socket of both families wraps up is shown as what it is.
  if (storage.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six(*this).sin6_addr)) {
    sockaddr_in inner{};
    inner.sin_family = AF_INET;
    std::memcpy(&inner.sin_addr, six(*this).sin6_addr.s6_addr + 12, 4);
    std::memcpy(&plain.storage, &inner, sizeof(inner));
    plain.length = sizeof(inner);
  }
  char host[NI_MAXHOST] = "";
  getnameinfo(plain.get(), plain.length, host, sizeof(host), nullptr, 0, NI_NUMERICHOST);
  return host;
}

bool Address::isLoopback() const {
  if (storage.ss_family == AF_INET6) {
    const in6_addr &address = six(*this).sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(&address) || (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127);
  }
  return ntohl(four(*this).sin_addr.s_addr) >> 24 == 127;
}

bool Address::isAny() const {
  return storage.ss_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&six(*this).sin6_addr)
                                       : four(*this).sin_addr.s_addr == htonl(INADDR_ANY);
}

static int lookUp(const std::string &host, int port, int flags, addrinfo *&found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM, hints.ai_flags = flags;
  return getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
}

io::Status resolve(const std::string &host, int port, std::vector<Address> &addresses) {
  addrinfo *found = nullptr;
  addresses.clear();
  if (int code = lookUp(host, port, 0, found))
    return io::Status::error("\"" + host +
                             "\" is no address and no name of a machine: " + gai_strerror(code));
  for (addrinfo *entry = found; entry; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6)
      continue;
    Address address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.length = entry->ai_addrlen;
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses.empty() ? io::Status::error("\"" + host + "\" has no IP address") : io::Status();
}

io::Status resolveAll(const std::vector<std::string> &hosts, int port, std::vector<Address> &addresses) {
  addresses.clear();
  for (const std::string &host : hosts) {
    std::vector<Address> found;
    PAR_TRY(resolve(host, port, found));
    addresses.insert(addresses.end(), found.begin(), found.end());
  }
  return {};
}

bool isNumeric(const std::string &host) {
  addrinfo *found = nullptr;
  if (host.empty() || lookUp(host, 1, AI_NUMERICHOST, found) != 0)
    return false;
  freeaddrinfo(found);
  return true;
}

static socklen_t lengthOf(const sockaddr &address) {
  return address.sa_family == AF_INET    ? sizeof(sockaddr_in)
         : address.sa_family == AF_INET6 ? sizeof(sockaddr_in6)
                                         : 0;
}

/// Calls `use` with every address of an interface that is up.
template <typename Use>
static void forInterfaces(const Use &use) {
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) != 0)
    return;
  for (ifaddrs *entry = list; entry; entry = entry->ifa_next) {
    socklen_t length = entry->ifa_addr ? lengthOf(*entry->ifa_addr) : 0;
    if (!length || !(entry->ifa_flags & IFF_UP))
      continue;
    Address address;
    std::memcpy(&address.storage, entry->ifa_addr, length);
    address.length = length;
    use(address);
  }
  freeifaddrs(list);
}

bool isOwn(const Address &address) {
  bool own = address.isLoopback();
  forInterfaces([&](const Address &one) { own |= one.text() == address.text(); });
  return own;
}

std::vector<std::string> ownAddresses() {
  std::vector<std::string> outside, inside;
  forInterfaces([&](const Address &one) {
    if (one.storage.ss_family == AF_INET)
      (one.isLoopback() ? inside : outside).push_back(one.text());
  });
  outside.insert(outside.end(), inside.begin(), inside.end());
  if (outside.empty())
    outside.push_back("127.0.0.1");
  return outside;
}

} // namespace par::comm

/// IP addresses: what a name stands for, and which addresses are this machine's.
#ifndef PAR_COMM_PROCESS_ADDRESS_H
#define PAR_COMM_PROCESS_ADDRESS_H

#include "par/io/Status.h"

#include <string>
#include <sys/socket.h>
#include <vector>

namespace par::comm {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&storage); }
  sockaddr *get() { return reinterpret_cast<sockaddr *>(&storage); }
  int port() const;
  void setPort(int port);
  /// "127.0.0.1", without the port.
  std::string text() const;
  bool isLoopback() const;
  /// 0.0.0.0 or ::, which is every address and so none.
  bool isAny() const;
};

/// What a name or an address stands for; several where it is a name. An error when it stands for nothing.
io::Status resolve(const std::string &host, int port, std::vector<Address> &addresses);

/// The same of several, in their order.
io::Status resolveAll(const std::vector<std::string> &hosts, int port, std::vector<Address> &addresses);

/// Whether the text is an address, not a name: nobody has to be asked what it stands for.
bool isNumeric(const std::string &host);

/// Whether it is one of this machine's.
bool isOwn(const Address &address);

/// Addresses of this machine that others may reach, those of the machine itself last.
std::vector<std::string> ownAddresses();

} // namespace par::comm
#endif

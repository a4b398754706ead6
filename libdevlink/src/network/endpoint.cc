// SPDX-License-Identifier: Apache-2.0
#include "network/endpoint.h"

#include <curl/curl.h>

#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/visible_text.h"

namespace devlink::internal {

namespace {

constexpr unsigned kMostDatabases = 1'000'000;

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

// Empty where the address has no such part.
std::string PartOf(const Url& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return "";
  std::string out = text;
  curl_free(text);
  return out;
}

// A scheme, and what libcurl connects with in its place.
struct Scheme {
  std::string_view name;
  Protocol protocol;
  std::string_view carrier;
  std::string_view port;  // where the address names none
};
constexpr Scheme kSchemes[] = {{"http", Protocol::kHttp, "http", ""},
                               {"https", Protocol::kHttp, "https", ""},
                               {"redis", Protocol::kRedis, "http", "6379"},
                               {"rediss", Protocol::kRedis, "https", "6379"},
                               {"redis+unix", Protocol::kRedis, "http", ""}};

const Scheme* SchemeOf(std::string_view url) {
  const std::size_t end = url.find("://");
  if (end == std::string_view::npos) return nullptr;
  for (const Scheme& scheme : kSchemes) {
    if (url.substr(0, end) == scheme.name) return &scheme;
  }
  return nullptr;
}

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(base::Cat({"the address of the cache ", what}));
}

absl::StatusOr<unsigned> DatabaseOf(std::string_view text) {
  unsigned number = 0;
  if (text.empty()) return number;
  if (!absl::SimpleAtoi(base::ToAbsl(text), &number) || number > kMostDatabases) {
    return Wrong("names no database by a number");
  }
  return number;
}

// `path` begins with a slash.
absl::Status ReadRedis(const Url& url, bool is_socket, std::string_view path, Endpoint& out) {
  const std::string query = PartOf(url, CURLUPART_QUERY);
  // As the tools of Redis have it, one word in front of the host is the password.
  if (out.password.empty()) std::swap(out.user, out.password);
  if (!is_socket) {
    if (!query.empty()) return Wrong("has a query, which means nothing here");
    DEVLINK_ASSIGN_OR_RETURN(out.database, DatabaseOf(path.substr(1)));
    return absl::OkStatus();
  }
  constexpr std::string_view kDatabase = "db=";
  if (path.size() < 2) return Wrong("has no path of a socket");
  if (!query.empty() && !query.starts_with(kDatabase)) {
    return Wrong("has a query that is not db=NUMBER");
  }
  out.socket = path;
  const std::string_view number =
      query.empty() ? "" : std::string_view(query).substr(kDatabase.size());
  if (!query.empty() && number.empty()) return Wrong("names no database by a number");
  DEVLINK_ASSIGN_OR_RETURN(out.database, DatabaseOf(number));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Endpoint> ParseEndpoint(const std::string& url) {
  const Scheme* scheme = SchemeOf(url);
  if (scheme == nullptr) {
    return Wrong("does not begin with http://, https://, redis://, rediss:// or redis+unix://");
  }
  // A zero would end the text for libcurl, and the rest be lost.
  if (base::VisibleText(url) != url) return Wrong("has characters that are not to be printed");
  const Url parsed(curl_url());
  if (parsed == nullptr) return absl::ResourceExhaustedError("no memory for the cache's address");
  const bool is_socket = scheme->name == "redis+unix";
  // For libcurl the scheme is the one that it will connect with.
  std::string address = base::Cat({scheme->carrier, std::string_view(url).substr(url.find("://"))});
  // The host of a socket says nothing and is often left out, which libcurl takes for an error.
  if (is_socket && address.starts_with("http:///"))
    address.insert(address.find(":///") + 3, "localhost");
  if (curl_url_set(parsed.get(), CURLUPART_URL, address.c_str(), 0) != CURLUE_OK) {
    return Wrong("is not one that libcurl understands");
  }
  if (!PartOf(parsed, CURLUPART_FRAGMENT).empty()) return Wrong("has a # in it");

  Endpoint out{.protocol = scheme->protocol};
  out.user = PartOf(parsed, CURLUPART_USER, CURLU_URLDECODE);
  out.password = PartOf(parsed, CURLUPART_PASSWORD, CURLU_URLDECODE);
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD}) {
    const bool is_read = part == CURLUPART_USER ? !out.user.empty() : !out.password.empty();
    if (!is_read && !PartOf(parsed, part).empty()) {
      return Wrong("has a user or a password that cannot be decoded");
    }
  }
  std::string path = PartOf(parsed, CURLUPART_PATH);
  const std::string host = PartOf(parsed, CURLUPART_HOST);
  std::string port = PartOf(parsed, CURLUPART_PORT);
  if (port.empty()) port = scheme->port;
  const std::string place = port.empty() ? host : base::Cat({host, ":", port});
  if (out.protocol == Protocol::kRedis) {
    const std::string plain = PartOf(parsed, CURLUPART_PATH, is_socket ? CURLU_URLDECODE : 0);
    DEVLINK_RETURN_IF_ERROR(ReadRedis(parsed, is_socket, plain, out));
    out.base = base::Cat({scheme->carrier, "://", place, "/"});
  } else {
    if (!PartOf(parsed, CURLUPART_QUERY).empty())
      return Wrong("has a query, which means nothing here");
    while (path.ends_with('/')) path.pop_back();
    out.base = base::Cat({scheme->carrier, "://", place, path});
  }
  if (path == "/") path.clear();
  out.shown = base::Cat({scheme->name, "://", is_socket ? "" : place, path});
  return out;
}

}  // namespace devlink::internal

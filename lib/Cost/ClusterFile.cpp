//===- ClusterFile.cpp - clusters as JSON files ---------------------------------------------------------===//
#include "par/Cost/ClusterFile.h"
#include "par/Cost/ClusterFields.h"
#include "par/Cost/KnownClusters.h"
#include "par/Support/JsonText.h"
#include "par/Support/MakeError.h"
#include "par/Support/OutputFile.h"
#include "par/Support/TextFile.h"
#include "par/config/Message.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cmath>
#include <set>

using namespace mlir::par;
namespace json = llvm::json;
using llvm::StringRef;

static std::string join(StringRef place, StringRef name) {
  return place.empty() ? name.str() : (place + "." + name).str();
}
static std::string at(StringRef place, size_t number) {
  return (place + "[" + llvm::Twine(number) + "]").str();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// 0.0000019 s is 1.9 µs, not 1.8999999999999999.
double inUnits(double value, double scale) {
  double clean = 0;
  (void)llvm::to_float(llvm::formatv("{0:e14}", value / scale).str(), clean);
  return clean;
}

struct Writer {
  template <typename Struct>
  static json::Object writeObject(const Struct &from) {
    json::Object object;
    visitFields(
        [&](const ClusterField &field, const auto &member) { object[field.name] = write(field, member); },
        from);
    return object;
  }
  static json::Value write(const ClusterField &field, double value) { return inUnits(value, field.scale); }
  static json::Value write(const ClusterField &, int64_t value) { return value; }
  static json::Value write(const ClusterField &, bool value) { return value; }
  static json::Value write(const ClusterField &, const std::string &value) { return value; }
  static json::Value write(const ClusterField &, TargetKind value) { return getName(value); }
  static json::Value write(const ClusterField &field, const RateCurve &curve) {
    json::Array array;
    for (auto &[bytes, rate] : curve.points)
      array.push_back(json::Array{inUnits(bytes, 1), inUnits(rate, field.scale)});
    return array;
  }
  static json::Value write(const ClusterField &, const std::map<std::string, std::string> &texts) {
    json::Object object;
    for (auto &[place, text] : texts)
      object[place] = text;
    return object;
  }
  template <typename Struct>
  static json::Value write(const ClusterField &, const std::vector<Struct> &list) {
    json::Array array;
    for (const Struct &entry : list)
      array.push_back(writeObject(entry));
    return array;
  }
  template <typename Struct>
  static auto write(const ClusterField &, const Struct &from) -> decltype(writeObject(from), json::Value(0)) {
    return writeObject(from);
  }
};

} // namespace

json::Object mlir::par::toJson(const Cluster &cluster) {
  json::Object object = Writer::writeObject(cluster);
  object["version"] = Cluster::kVersion;
  return object;
}

llvm::Error mlir::par::writeCluster(const Cluster &cluster, StringRef path) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", json::Value(toJson(cluster)));
  return writeOutput(path, text);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {

/// Of all members, or of numbers and curves alone.
struct PlaceList {
  bool numbersOnly;
  std::vector<std::string> places;

  template <typename Struct>
  void addFields(StringRef place, const Struct &of) {
    visitFields([&](const ClusterField &field, const auto &member) { add(join(place, field.name), member); },
                of);
  }
  void addText(const std::string &place) {
    if (!numbersOnly)
      places.push_back(place);
  }
  void add(const std::string &place, double) { places.push_back(place); }
  void add(const std::string &place, int64_t) { places.push_back(place); }
  void add(const std::string &place, const RateCurve &) { places.push_back(place); }
  void add(const std::string &place, bool) { addText(place); }
  void add(const std::string &place, const std::string &) { addText(place); }
  void add(const std::string &place, TargetKind) { addText(place); }
  void add(const std::string &, const std::map<std::string, std::string> &) {}
  template <typename Struct>
  void add(const std::string &place, const std::vector<Struct> &list) {
    for (auto [number, entry] : llvm::enumerate(list))
      addFields(at(place, number), entry);
  }
  template <typename Struct>
  void add(const std::string &place, const Struct &of) {
    addFields(place, of);
  }
};

std::vector<std::string> listPlaces(const Cluster &cluster, bool numbersOnly) {
  PlaceList list{numbersOnly, {}};
  list.addFields("", cluster);
  return std::move(list.places);
}

/// `links[0]` covers `links[0].ranks`, not `links[01]`.
bool covers(StringRef source, StringRef place) {
  return place.consume_front(source) && (place.empty() || place[0] == '.' || place[0] == '[');
}

} // namespace

std::vector<std::string> mlir::par::listNumbers(const Cluster &cluster) { return listPlaces(cluster, true); }

std::vector<std::string> mlir::par::listUnsourced(const Cluster &cluster) {
  std::vector<std::string> numbers = listNumbers(cluster);
  llvm::erase_if(numbers, [&](StringRef place) {
    return llvm::any_of(cluster.sources, [&](auto &source) { return covers(source.first, place); });
  });
  return numbers;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

constexpr StringRef kRemedy = "; docs/Clusters.md says what it means and how one measures it";

/// Values of long lists and texts are of no use in a line.
std::string quote(const json::Value &value) {
  std::string text = llvm::formatv("{0}", value);
  return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

/// Reads values into members; only the first problem is kept.
class Reader {
public:
  std::string problem;

  template <typename Struct>
  void readObject(StringRef place, const json::Value &value, Struct &target,
                  std::set<std::string> known = {}) {
    const json::Object *object = value.getAsObject();
    if (!object)
      return refuse(place, value, "must be an object { .. }");
    visitFields(
        [&](const ClusterField &field, auto &member) {
          known.insert(field.name.str());
          const json::Value *found = object->get(field.name);
          if (found)
            read(join(place, field.name), *found, field, member);
          else if (!field.isOptional)
            complain(join(place, field.name), "is missing" + kRemedy);
        },
        target);
    for (StringRef key : llvm::make_first_range(*object))
      if (!known.count(key.str()))
        complain(join(place, key), "is unknown; there are " + llvm::join(known, ", "));
  }

private:
  void complain(StringRef place, const llvm::Twine &text) {
    if (problem.empty())
      problem = (place + ": " + text).str();
  }
  void refuse(StringRef place, const json::Value &value, StringRef expected) {
    complain(place, quote(value) + " " + expected + kRemedy);
  }

  /// In the unit of the file. What is above that is mistyped, and sums with it say nothing.
  static double getMost(double scale) {
    return scale == kMicro ? 60 / kMicro : scale == 1 ? 1e18 : 1e9; // a minute, an exabyte, 10^9 GB/s
  }

  bool isWithin(StringRef place, const json::Value &value, double number, double scale, Bound bound) {
    if (std::isfinite(number) && number > getMost(scale) * scale)
      refuse(place, value, llvm::formatv("must be at most {0}", getMost(scale)).str());
    else if (!std::isfinite(number))
      refuse(place, value, "must be a finite number");
    else if (bound == Bound::AtLeast0 && number < 0)
      refuse(place, value, "must be at least 0");
    else if (bound != Bound::AtLeast0 && number <= 0)
      refuse(place, value, "must be above 0");
    else if (bound == Bound::Share && number > 1)
      refuse(place, value, "must be a share of at most 1");
    else
      return true;
    return false;
  }

  void read(StringRef place, const json::Value &value, const ClusterField &field, double &target) {
    std::optional<double> number = value.getAsNumber();
    if (!number)
      refuse(place, value, "must be a number");
    else if (isWithin(place, value, *number * field.scale, field.scale, field.bound))
      target = *number * field.scale;
  }
  void read(StringRef place, const json::Value &value, const ClusterField &field, int64_t &target) {
    std::optional<int64_t> number = value.getAsInteger();
    if (!number)
      refuse(place, value, "must be an integer");
    else if (*number > Cluster::kMostRanks)
      refuse(place, value, "must be at most " + std::to_string(Cluster::kMostRanks));
    else if (isWithin(place, value, static_cast<double>(*number), field.scale, field.bound))
      target = *number;
  }
  void read(StringRef place, const json::Value &value, const ClusterField &, bool &target) {
    if (std::optional<bool> flag = value.getAsBoolean())
      target = *flag;
    else
      refuse(place, value, "must be true or false");
  }
  void read(StringRef place, const json::Value &value, const ClusterField &field, std::string &target) {
    if (!value.getAsString() || (value.getAsString()->empty() && !field.isOptional))
      return refuse(place, value, "must be a text");
    target = value.getAsString()->str();
    if (::par::config::shortened(::par::config::visible(target)) != target) // answers print names as they are
      refuse(place, value, "must be a name of one line, at most 80 characters, and nothing hidden");
  }
  void read(StringRef place, const json::Value &value, const ClusterField &, TargetKind &target) {
    if (auto found = findByName<TargetKind>(value.getAsString().value_or("")))
      target = *found;
    else
      refuse(place, value, "must be one of " + llvm::join(getNames(TargetKind()), ", "));
  }
  void read(StringRef place, const json::Value &value, const ClusterField &field, RateCurve &curve) {
    const json::Array *array = value.getAsArray();
    if (!array || array->empty())
      return refuse(place, value, "must be a list of pairs such as [[1048576, 80], [67108864, 230]]");
    curve.points.clear();
    for (auto [number, entry] : llvm::enumerate(*array))
      readPoint(at(place, number), entry, field, curve);
  }
  void readPoint(StringRef place, const json::Value &value, const ClusterField &field, RateCurve &curve) {
    const json::Array *pair = value.getAsArray();
    if (!pair || pair->size() != 2)
      return refuse(place, value, "must be a pair of numbers");
    double size = 0, rate = 0;
    read(at(place, 0), (*pair)[0], ClusterField{field.name}, size);
    read(at(place, 1), (*pair)[1], field, rate);
    if (!curve.points.empty() && size <= curve.points.back().first)
      refuse(at(place, 0), (*pair)[0], "must be above that of the point before it: sort the points");
    curve.points.emplace_back(size, rate);
  }
  void read(StringRef place, const json::Value &value, const ClusterField &,
            std::map<std::string, std::string> &texts) {
    const json::Object *object = value.getAsObject();
    if (!object)
      return refuse(place, value, "must be an object { \"place\": \"text\" }");
    texts.clear();
    for (auto &[key, text] : *object) {
      if (!text.getAsString() || text.getAsString()->empty())
        refuse(join(place, key), text, "must be a text");
      texts[key.str()] = text.getAsString().value_or("").str();
    }
  }
  template <typename Struct>
  void read(StringRef place, const json::Value &value, const ClusterField &, std::vector<Struct> &list) {
    const json::Array *array = value.getAsArray();
    if (!array || array->empty())
      return refuse(place, value, "must be a list of at least one object");
    list.clear();
    for (auto [number, entry] : llvm::enumerate(*array))
      readObject(at(place, number), entry, list.emplace_back());
  }
  template <typename Struct>
  void read(StringRef place, const json::Value &value, const ClusterField &, Struct &target) {
    readObject(place, value, target);
  }
};

} // namespace

/// Sources of places that are not there are mistyped.
static std::string findLostSource(const Cluster &cluster) {
  std::vector<std::string> places = listPlaces(cluster, false);
  for (StringRef source : llvm::make_first_range(cluster.sources))
    if (llvm::none_of(places, [&](StringRef place) { return covers(source, place); }))
      return "sources: \"" + source.str() + "\" is no place in this file; one is device.memory_bytes";
  return "";
}

static std::string findVersionProblem(const json::Object &object) {
  const json::Value *version = object.get("version");
  if (!version)
    return "version: is missing; write \"version\": " + std::to_string(Cluster::kVersion);
  if (version->getAsInteger() != Cluster::kVersion)
    return "version: " + quote(*version) + " must be " + std::to_string(Cluster::kVersion) +
           "; this par reads no other";
  return "";
}

llvm::Expected<Cluster> mlir::par::parseCluster(StringRef name, StringRef text) {
  llvm::Expected<json::Value> value = parseJson(name, text, "cluster file");
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return makeError(name + ": is no JSON object; docs/Clusters.md shows a cluster file");
  Cluster cluster;
  Reader reader;
  reader.problem = findVersionProblem(*object);
  reader.readObject("", *value, cluster, {"version"});
  for (auto find : {findLostSource, findClusterProblem})
    if (reader.problem.empty())
      reader.problem = find(cluster);
  return reader.problem.empty() ? llvm::Expected<Cluster>(std::move(cluster))
                                : makeError(::par::config::visible((name + ": " + reader.problem).str()));
}

static std::string suggestClusters() {
  std::vector<std::string> known = listKnownClusters();
  return known.empty() ? "docs/Clusters.md shows a cluster file"
                       : "par itself has " + llvm::join(known, ", ");
}

llvm::Expected<Cluster> mlir::par::readCluster(StringRef path) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file = readTextFile(path);
  if (file)
    return parseCluster(path, (*file)->getBuffer());
  if (std::string known = findKnownCluster(path); !known.empty()) {
    llvm::consumeError(file.takeError());
    return readCluster(known);
  }
  return makeError(path + ": cannot be read: " + llvm::toString(file.takeError()) + "; " + suggestClusters());
}

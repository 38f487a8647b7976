#include "chat/TemplateEvaluator.h"

#include "chat/TemplateFunctions.h"
#include "par/Limits.h"

#include <iterator>
#include <map>
#include <set>

namespace par::chat {

namespace {
/// Loops in loops end here, long after any conversation.
constexpr int64_t mostSteps = limits::templateSteps;
/// And macros that call themselves, long before the stack does.
constexpr int mostLevels = limits::templateLevels;

class Evaluator {
public:
  explicit Evaluator(const Json &variables) {
    scopes.emplace_back();
    for (const auto &[name, value] : variables.items())
      scopes.back()[name] = value;
  }

  Written run(const Block &block) {
    for (const Statement &statement : block)
      if (statement.kind == Statement::set || statement.kind == Statement::capture)
        setLater.insert(statement.names[0]);
    if (execute(block) != Flow::on)
      throw TemplateError(1, "break or continue outside of a loop");
    return {std::move(output), std::move(answers), hidesAnswers};
  }

private:
  enum class Flow { on, next, stop };
  using Scope = std::map<std::string, Json>;

  struct Level {
    Level(Evaluator &evaluator, int line) : levels(evaluator.levels) {
      if (++levels > mostLevels)
        throw TemplateError(line, "macros that call each other more than " + std::to_string(mostLevels) +
                                      " levels deep");
    }
    ~Level() { --levels; }
    int &levels;
  };

  //--- Statements

  Flow execute(const Block &block) {
    for (const Statement &statement : block)
      if (Flow flow = execute(statement); flow != Flow::on)
        return flow;
    return Flow::on;
  }

  Flow execute(const Statement &statement) {
    Level level(*this, statement.line);
    count(statement.line);
    switch (statement.kind) {
    case Statement::plain:
      output = limited(std::move(output) + statement.text, statement.line);
      return Flow::on;
    case Statement::print:
      output = limited(std::move(output) + print(*statement.expression), statement.line);
      return Flow::on;
    case Statement::choose:
      for (const auto &[condition, body] : statement.branches)
        if (!condition || isTrue(value(*condition)))
          return execute(body);
      return Flow::on;
    case Statement::loop:
      return loop(statement);
    case Statement::set:
      set(statement, value(*statement.expression));
      return Flow::on;
    case Statement::capture:
      set(statement, written(statement));
      return Flow::on;
    case Statement::define:
      if (scopes.size() > 1)
        throw TemplateError(statement.line,
                            "a macro within a loop or a macro is not among what par evaluates");
      macros[statement.names[0]] = &statement;
      return Flow::on;
    case Statement::generation:
      generate(statement);
      return Flow::on;
    case Statement::stop:
      return Flow::stop;
    case Statement::next:
      return Flow::next;
    }
    return Flow::on;
  }

  void count(int line) {
    if (++steps > mostSteps)
      throw TemplateError(line, "it takes more than " + std::to_string(mostSteps) + " steps");
  }

  /// A token that no file names is one of the tokenizer's class, which par does not know.
  std::string print(const Expression &expression) {
    Json result = value(expression);
    bool isToken = expression.kind == Expression::variable && expression.name.size() > 6 &&
                   expression.name.compare(expression.name.size() - 6, 6, "_token") == 0;
    if (isUndefined(result) && isToken && !find(expression.name))
      throw TemplateError(expression.line, expression.name +
                                               " is named neither by tokenizer_config.json nor by "
                                               "special_tokens_map.json");
    return toText(result, expression.line);
  }

  /// What the body of a statement writes, in a scope of its own.
  std::string written(const Statement &statement) {
    std::string before = std::exchange(output, {});
    ++captures;
    scopes.emplace_back();
    if (execute(statement.body) != Flow::on)
      throw TemplateError(statement.line, "break or continue leaves {% set %} or a macro");
    scopes.pop_back();
    --captures;
    return std::exchange(output, std::move(before));
  }

  /// What it sets is unknown behind it, as in Jinja.
  void generate(const Statement &statement) {
    size_t number = answers.size();
    hidesAnswers |= captures > 0;
    answers.push_back({output.size(), 0});
    scopes.emplace_back();
    if (execute(statement.body) != Flow::on)
      throw TemplateError(statement.line, "break or continue leaves {% generation %}");
    scopes.pop_back();
    answers[number].end = output.size();
  }

  void set(const Statement &statement, Json result) {
    if (scopes.size() == 1)
      setLater.erase(statement.names[0]);
    if (statement.names.size() == 1) {
      scopes.back()[statement.names[0]] = std::move(result);
      return;
    }
    Json *space = find(statement.names[0]);
    if (!space || !space->is_object())
      throw TemplateError(statement.line, statement.names[0] + " is no namespace");
    bool isList = result.is_structured(); // it may be the namespace itself
    (*space)[statement.names[1]] = std::move(result);
    if (isList)
      *space = limitedList(std::move(*space), statement.line);
  }

  /// What is iterated, after the condition.
  std::vector<Json> itemsOf(const Statement &statement) {
    Json all = value(*statement.expression);
    if (all.is_object() || all.is_string() || all.is_array())
      all = applyFilter("list", all, {{}, Json::object(), statement.line});
    else if (!isUndefined(all))
      throw TemplateError(statement.line, "a loop over what is no list");
    std::vector<Json> items;
    if (isUndefined(all))
      return items;
    for (Json &item : all) {
      count(statement.line);
      scopes.emplace_back();
      bind(statement, item);
      bool isTaken = !statement.condition || isTrue(value(*statement.condition));
      scopes.pop_back();
      if (isTaken)
        items.push_back(std::move(item));
    }
    return items;
  }

  void bind(const Statement &statement, const Json &item) {
    if (statement.names.size() == 1) {
      scopes.back()[statement.names[0]] = item;
      return;
    }
    if (!item.is_array() || item.size() != statement.names.size())
      throw TemplateError(statement.line, "a loop over what is no list of so many values");
    for (size_t i = 0; i < statement.names.size(); ++i)
      scopes.back()[statement.names[i]] = item[i];
  }

  static Json placeOf(const std::vector<Json> &items, size_t i) {
    int64_t count = int64_t(items.size()), at = int64_t(i);
    return {{"index", at + 1},
            {"index0", at},
            {"first", at == 0},
            {"last", at + 1 == count},
            {"length", count},
            {"revindex", count - at},
            {"revindex0", count - at - 1},
            {"previtem", i ? items[i - 1] : undefined()},
            {"nextitem", i + 1 < items.size() ? items[i + 1] : undefined()}};
  }

  Flow loop(const Statement &statement) {
    std::vector<Json> items = itemsOf(statement);
    if (items.empty())
      return execute(statement.otherwise);
    for (size_t i = 0; i < items.size(); ++i) {
      scopes.emplace_back();
      bind(statement, items[i]);
      scopes.back()["loop"] = placeOf(items, i);
      Flow flow = execute(statement.body);
      scopes.pop_back();
      if (flow == Flow::stop)
        break;
    }
    return Flow::on;
  }

  //--- Expressions

  Json *find(const std::string &name) {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (auto found = scope->find(name); found != scope->end())
        return &found->second;
    return nullptr;
  }

  Json value(const Expression &expression) {
    Level level(*this, expression.line);
    count(expression.line);
    switch (expression.kind) {
    case Expression::literal:
      return expression.value;
    case Expression::variable:
      return variable(expression);
    case Expression::list:
    case Expression::map:
      return made(expression);
    case Expression::member:
      return member(expression);
    case Expression::index: {
      Json own, at = part(expression, 1);
      return itemOf(object(expression, own), at, expression.line);
    }
    case Expression::slice: {
      Json own, begin = part(expression, 1), end = part(expression, 2), step = part(expression, 3);
      return sliceOf(object(expression, own), begin, end, step, expression.line);
    }
    case Expression::call:
      return call(expression);
    case Expression::method:
      return callMethod(part(expression, 0), expression.name, arguments(expression, 1));
    case Expression::filter:
      return applyFilter(expression.name, part(expression, 0), arguments(expression, 1));
    case Expression::test:
      return test(expression);
    case Expression::negate:
      return !isTrue(part(expression, 0));
    case Expression::minus:
      return combine("-", 0, part(expression, 0), expression.line);
    case Expression::binary:
      return binary(expression);
    case Expression::choose:
      return isTrue(part(expression, 0)) ? part(expression, 1)
             : expression.parts[2]       ? part(expression, 2)
                                         : undefined();
    }
    return undefined();
  }

  Json part(const Expression &expression, size_t number) {
    return expression.parts[number] ? value(*expression.parts[number]) : Json();
  }

  /// The first part: a variable itself, which may be a long list, or what is kept in `own`.
  const Json &object(const Expression &expression, Json &own) {
    const Expression &first = *expression.parts[0];
    if (const Json *found = first.kind == Expression::variable ? findVisible(first) : nullptr)
      return *found;
    own = value(first);
    return own;
  }

  /// Jinja's macros do not see what a conversation gives a name to which the template gives something later.
  const Json *findVisible(const Expression &variable) {
    if (isInMacro && setLater.count(variable.name))
      throw TemplateError(variable.line, "a macro reads " + variable.name + " before it is set");
    return find(variable.name);
  }

  Json variable(const Expression &expression) {
    if (const Json *found = findVisible(expression))
      return *found;
    for (const char *name : {"caller", "varargs", "kwargs"})
      if (isInMacro && expression.name == name)
        throw TemplateError(expression.line, expression.name + " of a macro is not among what par evaluates");
    if (isFunction(expression.name) || macros.count(expression.name))
      throw TemplateError(expression.line, "the function " + expression.name + " is used as a value");
    return undefined();
  }

  Json made(const Expression &expression) {
    bool isList = expression.kind == Expression::list;
    Json result = isList ? Json::array() : Json::object();
    for (size_t i = 0; i < expression.parts.size(); i += isList ? 1 : 2)
      if (isList)
        result.push_back(part(expression, i));
      else
        result[toText(part(expression, i), expression.line)] = part(expression, i + 1);
    return limitedList(std::move(result), expression.line);
  }

  Json member(const Expression &expression) {
    Json own;
    return memberOf(object(expression, own), expression.name, expression.line);
  }

  Arguments arguments(const Expression &expression, size_t first) {
    Arguments all;
    all.line = expression.line;
    for (size_t i = first; i < expression.parts.size(); ++i)
      all.given.push_back(part(expression, i));
    for (const auto &[name, argument] : expression.named)
      all.named[name] = value(*argument);
    return all;
  }

  /// A macro sees its arguments and what the template has outside of loops.
  Json callMacro(const Statement &macro, const Arguments &arguments) {
    Scope own;
    size_t given = 0;
    for (size_t i = 1; i < macro.names.size(); ++i)
      if (bool isNamed = arguments.named.contains(macro.names[i]); isNamed || i <= arguments.given.size()) {
        own[macro.names[i]] = isNamed ? arguments.named[macro.names[i]] : arguments.given[i - 1];
        ++given;
      }
    if (given != arguments.given.size() + arguments.named.size())
      throw TemplateError(arguments.line, "the macro " + macro.names[0] + "() does not take these arguments");
    std::vector<Scope> callers(std::make_move_iterator(scopes.begin() + 1),
                               std::make_move_iterator(scopes.end()));
    scopes.resize(1);
    scopes.push_back(std::move(own));
    bool wasInMacro = std::exchange(isInMacro, true);
    for (size_t i = 1; i < macro.names.size(); ++i)
      if (!scopes[1].count(macro.names[i]))
        scopes[1][macro.names[i]] = macro.defaults[i - 1] ? value(*macro.defaults[i - 1]) : undefined();
    std::string text = written(macro);
    isInMacro = wasInMacro;
    scopes.pop_back();
    std::move(callers.begin(), callers.end(), std::back_inserter(scopes));
    return text;
  }

  Json call(const Expression &expression) {
    if (auto macro = macros.find(expression.name); macro != macros.end() && !find(expression.name))
      return callMacro(*macro->second, arguments(expression, 0));
    if (find(expression.name) || !isFunction(expression.name))
      throw TemplateError(expression.line,
                          "the function " + expression.name + "() is not among what par evaluates");
    return callFunction(expression.name, arguments(expression, 0));
  }

  Json test(const Expression &expression) {
    const Expression &operand = *expression.parts[0];
    bool isName = operand.kind == Expression::variable && !find(operand.name) &&
                  (isFunction(operand.name) || macros.count(operand.name));
    if (isName && (expression.name == "defined" || expression.name == "undefined"))
      return expression.name == "defined";
    return applyTest(expression.name, value(operand), expression.line);
  }

  /// `and` and `or` give one of their sides, and look at the second only where it decides.
  Json binary(const Expression &expression) {
    Json left = part(expression, 0);
    if (expression.name == "and")
      return isTrue(left) ? part(expression, 1) : left;
    if (expression.name == "or")
      return isTrue(left) ? left : part(expression, 1);
    return combine(expression.name, left, part(expression, 1), expression.line);
  }

  std::vector<Scope> scopes; ///< the innermost last
  std::map<std::string, const Statement *> macros;
  std::set<std::string> setLater; ///< what the template sets outside of all else, and has not set yet
  std::string output;
  std::vector<Span> answers;
  int64_t steps = 0;
  int levels = 0, captures = 0; ///< captures: texts that are written into values at the moment
  bool isInMacro = false, hidesAnswers = false;
};
} // namespace

Written evaluate(const Block &block, const Json &variables) { return Evaluator(variables).run(block); }

} // namespace par::chat

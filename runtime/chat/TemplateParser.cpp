#include "chat/TemplateExpressions.h"

namespace par::chat {

namespace {
class Parser : public TemplateExpressions {
public:
  using TemplateExpressions::TemplateExpressions;

  Block run() {
    Block block = statements({});
    if (word().kind != Word::end)
      refuse("'" + describe() + "' has nothing that it belongs to");
    return block;
  }

private:
  /// Up to a block tag with one of the names, which is the next word then, behind its {%.
  Block statements(const std::vector<std::string> &ends) {
    Level level(*this);
    Block block;
    while (word().kind != Word::end) {
      if (word().kind == Word::openBlock && std::count(ends.begin(), ends.end(), word(1).text)) {
        ++at;
        return block;
      }
      statement(block);
    }
    if (!ends.empty())
      refuse(ends.back() + " is missing");
    return block;
  }

  void statement(Block &block) {
    Statement made;
    made.line = word().line;
    Word::Kind kind = words[at++].kind;
    if (kind == Word::plain) {
      made.text = words[at - 1].text;
    } else if (kind == Word::openPrint) {
      made.kind = Statement::print;
      made.expression = whole();
      expectClose();
    } else {
      blockTag(expectName(), made);
    }
    block.push_back(std::move(made));
  }

  void blockTag(const std::string &name, Statement &made) {
    if (name == "if")
      return choose(made);
    if (name == "for")
      return loop(made);
    if (name == "set")
      return set(made);
    if (name == "macro")
      return define(made);
    if (name == "generation") {
      made.kind = Statement::generation;
      return body(made, "endgeneration");
    }
    if (name != "break" && name != "continue")
      throw TemplateError(made.line, "{% " + name + " %} is not among what par evaluates");
    made.kind = name == "break" ? Statement::stop : Statement::next;
    expectClose();
  }

  void choose(Statement &made) {
    made.kind = Statement::choose;
    for (std::string tag = "if"; tag != "endif"; tag = words[at++].text) {
      bool last = tag == "else";
      ExpressionPointer condition = last ? nullptr : whole();
      expectClose();
      Block body = last ? statements({"endif"}) : statements({"elif", "else", "endif"});
      made.branches.emplace_back(std::move(condition), std::move(body));
    }
    expectClose();
  }

  void loop(Statement &made) {
    made.kind = Statement::loop;
    do
      made.names.push_back(expectName());
    while (takeSign(","));
    if (!takeName("in"))
      refuse("'" + describe() + "' where 'in' is expected");
    takesTuple = true;
    made.expression = either();
    if (takeName("if"))
      made.condition = expression();
    if (isName("recursive"))
      refuse("recursive loops are not among what par evaluates");
    expectClose();
    made.body = statements({"else", "endfor"});
    if (words[at++].text == "else") {
      expectClose();
      made.otherwise = statements({"endfor"});
      ++at;
    }
    expectClose();
  }

  void set(Statement &made) {
    made.kind = Statement::set;
    made.names.push_back(expectName());
    if (takeSign("."))
      made.names.push_back(expectName());
    if (!isSign("=") && word().kind != Word::close)
      refuse("of {% set %} only one name, or one of a namespace, is evaluated");
    if (takeSign("=")) {
      made.expression = whole();
      return expectClose();
    }
    made.kind = Statement::capture;
    body(made, "endset");
  }

  /// From the end of a tag to that of the one that ends what it holds.
  void body(Statement &made, const char *end) {
    expectClose();
    made.body = statements({end});
    ++at;
    expectClose();
  }

  void define(Statement &made) {
    made.kind = Statement::define;
    made.names.push_back(expectName());
    expectSign("(");
    while (!takeSign(")")) {
      std::string name = expectName();
      if (std::count(made.names.begin() + 1, made.names.end(), name))
        refuse("two parameters of a macro have the name " + name);
      made.names.push_back(name);
      bool wasGiven = !made.defaults.empty() && made.defaults.back();
      made.defaults.push_back(takeSign("=") ? expression() : nullptr);
      if (wasGiven && !made.defaults.back())
        refuse("a parameter without a value follows one that has one");
      if (!isSign(")"))
        expectSign(",");
    }
    body(made, "endmacro");
  }
};
} // namespace

Block parseTemplate(const std::string &source) { return Parser(cutTemplate(source)).run(); }

} // namespace par::chat

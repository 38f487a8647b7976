#!/usr/bin/env python3
"""Make cases.json: chat templates, and what Jinja writes with them under the settings of Hugging Face's apply_chat_template.

    make.py FOLDER

Needs jinja2 (cases.json: 3.1.6). A case has a template, variables, and `text`, or `fails` where Jinja raises an error. The templates of families have
the effect of those that the models' folders hold; the small ones are one construct each, and those of `refused` have what par does not evaluate.
"""
import json
import sys

from jinja2 import Undefined, nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

CHATML = """{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

QWEN2 = """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nBe helpful.<|im_end|>\\n' }}\
{% endif %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}\
{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

QWEN25 = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n<|im_end|>\\n" }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nBe helpful.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {{- '\\n{"name": "' }}
            {{- tool_call.name }}
            {{- '", "arguments": ' }}
            {{- tool_call.arguments | tojson }}
            {{- '}' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

LLAMA3 = """{% set loop_messages = messages %}{% for message in loop_messages %}\
{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' %}\
{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}\
{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""

LLAMA31 = """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}

{#- The system message comes first. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if builtin_tools is defined or tools is not none %}
    {{- "Environment: ipython\\n" }}
{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- tool_call.name + "(" }}
        {%- for arg_name, arg_val in tool_call.arguments | items %}
            {{- arg_name + '="' + arg_val + '"' }}
            {%- if not loop.last %}
                {{- ", " }}
            {%- endif %}
        {%- endfor %}
        {{- ")" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

MISTRAL = """{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\
{{ raise_exception('Roles must alternate') }}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}\
{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token}}{% else %}{{ raise_exception('Only user and assistant') }}{% endif %}{% endfor %}"""

MISTRAL3 = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("Roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] " + tools | tojson }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- endif %}
{%- endfor %}
"""

ZEPHYR = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>
'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""

LLAMA2 = """{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}\
{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}\
{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}\
{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}\
{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"""

GEMMA = """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('No system role') }}{% endif %}{% for message in messages %}\
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}\
{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}\
{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}\
{% if add_generation_prompt %}{{'<start_of_turn>model\\n'}}{% endif %}"""

PHI3 = """{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] != 'system' %}{{'<|' + message['role'] + '|>
' + message['content'] + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt and messages[-1]['role'] != 'assistant' %}{{- '<|assistant|>
' -}}{% else %}{{ eos_token }}{% endif %}"""

DEEPSEEK = """{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}\
{% set ns = namespace(is_first=false, is_tool=false, system_prompt='') %}{%- for message in messages %}{%- if message['role'] == 'system' %}\
{%- set ns.system_prompt = message['content'] %}{%- endif %}{%- endfor %}{{bos_token}}{{ns.system_prompt}}{%- for message in messages %}\
{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}{{'<U>' + message['content']}}{%- endif %}\
{%- if message['role'] == 'assistant' and message['content'] is not none %}{% set content = message['content'] %}\
{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}{{'<A>' + content + '<end>'}}{%- endif %}{%- endfor -%}\
{% if add_generation_prompt and not ns.is_tool %}{{'<A><think>\\n'}}{% endif %}"""

QWEN3 = """{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<r>') and message.content.endswith('</r>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if message.role in ('user', 'system') %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and (loop.last or (not loop.last and reasoning_content)) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
"""

NEMO = """{%- set loop_messages = messages[1:] if messages and messages[0]["role"] == "system" else messages %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {{- "[INST]" + message["content"] + "[/INST]" }}
    {%- elif message.content is defined and message.content.content is defined %}
        {{- message.content.content|string }}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}
                {{- raise_exception("Tool call IDs have nine letters") }}
            {%- endif %}
        {%- endfor %}
    {%- else %}
        {{- message.content|string + eos_token }}
    {%- endif %}
{%- endfor %}
"""

MACROS = """{%- macro kind(spec, depth=0) %}
{%- set names = {"string": "str", "number": "float"} %}
{%- if names[spec.type] is defined %}
    {{- names[spec.type] }}
{%- elif spec.type == "array" %}
    {{- "list[" + kind(spec['items'], depth=depth + 1) + "]" }}
{%- elif spec.type is iterable and spec.type is not string %}
    {%- for t in spec.type %}
        {{- kind({"type": t}) ~ ("," if not loop.last) }}
    {%- endfor %}
{%- else %}
    {{- "Any" ~ depth }}
{%- endif %}
{%- endmacro %}
{%- macro content(message, count=false) -%}
    {%- if message.content is string -%}
        {{ message.content }}
    {%- elif message.content is none or message.content is undefined -%}
    {%- else -%}
        {%- for part in message.content -%}
            {%- if count %}{% set counts.value = counts.value + 1 %}{% endif -%}
            {{ part['text'] }}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}
{%- set counts = namespace(value=0) %}
{%- set before %}
Tools: {% for tool in tools %}{{ tool.function.name }}
{% endfor %}
{% endset %}
{%- if tools %}
    {{- before | trim }}
    {{- tools[0] | string }}
{%- endif %}
{%- for message in messages %}
    {{- '<' ~ message.role | capitalize ~ '>' + content(message, count=true) + ';' }}
{%- endfor %}
{{- counts.value ~ kind({"type": "array", "items": {"type": ["string", "null"]}}) ~ kind({}) }}
"""

FAMILIES = {"chatml": CHATML, "qwen2": QWEN2, "qwen25": QWEN25, "llama3": LLAMA3, "llama31": LLAMA31, "mistral": MISTRAL, "mistral3": MISTRAL3,
            "zephyr": ZEPHYR, "llama2": LLAMA2, "gemma": GEMMA, "phi3": PHI3, "deepseek": DEEPSEEK, "qwen3": QWEN3, "nemo": NEMO, "macros": MACROS}
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
USER, ANSWER, SYSTEM = ({"role": role} for role in ("user", "assistant", "system"))
CONVERSATIONS = [
    [{**USER, "content": " Who? \u00e9\u2028\n"}],
    [{**USER, "content": "Who?"}, {**ANSWER, "content": "  Me.\n"}],
    [{**SYSTEM, "content": "Be brief. "}, {**USER, "content": "Who?"}, {**ANSWER, "content": "Me."}, {**USER, "content": "\u00a0And?"}],
    [{**USER, "content": "a"}, {**ANSWER, "content": "b"}, {**USER, "content": "c"}, {**ANSWER, "content": "d{{ x }}"}],
    [{**USER, "content": "a"}, {**USER, "content": "b"}],
    [{**SYSTEM, "content": "s"}],
    [],
]
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"b": [1, True, None], "a": {}, "\u00e9": "\"\\\n\x01"}}}]
THOUGHTS = [{**USER, "content": "a"}, {**ANSWER, "content": "<think>\nb\n</think>\n\nc"}, {**USER, "content": "<r>d</r>"}, {**ANSWER, "content": "<think>e</think>f"}]
PARTS = [{**USER, "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, {**ANSWER, "content": None}]
CALLS = [{**USER, "content": "a"}, {**ANSWER, "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"x": "1", "y": "2"}}}]}]

SMALL = r"""
{{ 'a' ~ 1 ~ true ~ none ~ nothing }}
{{ 1 + 2 * 3 - 4 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }}
{{ 'a' 'b' }} {{ "\t\\\"'" }}
{{ not true or false and true }} {{ (1 if false else 2) }} {{ 1 if false }}|
{{ 'b' in 'abc' }} {{ 'x' not in 'abc' }} {{ 'x' in none_such }} {{ 1 in [1, 2] }} {{ 'a' in {'a': 1} }}
{{ 1 == true }} {{ '1' == 1 }} {{ none == none_such }} {{ none_such == other }} {{ [1] == [1] }} {{ 2 >= 2 }} {{ 'a' < 'b' }}
{{ 'abc'[1] }} {{ 'abc'[-1] }} {{ 'abc'[7] }}| {{ 'aébc'[1:3] }} {{ 'abc'[::-1] }} {{ 'abc'[-2:] }} {{ 'abcdef'[4:1:-2] }}
{{ [1, 2, 3][1:] | join('-') }} {{ [1, 2] + [3] | list | length }} {{ ['a', 'b'] | join }} {{ [3, 4] | first }} {{ [3, 4] | last }}
{{ {'k': 'v'}.k }} {{ {'k': 'v'}['k'] }} {{ {'k': 'v'}.get('x', 'y') }} {{ {'k': 'v'}.get('x') }} {{ 'x' in {'k': 1}.keys() }}
{{ x is defined }} {{ x is not defined }} {{ none is none }} {{ 1 is number }} {{ 'a' is string }} {{ [] is iterable }} {{ {} is mapping }} {{ 3 is odd }}
{{ '' or 'b' }} {{ 'a' and 'b' }} {{ 0 or none }}
{{ ' a ' | trim }}| {{ 'xax' | trim('x') }} {{ 'aBc' | upper | lower }} {{ 'aé' | length }} {{ x | default('d') }} {{ '' | default('d', true) }} {{ '' | d('d') }}|
{{ 'a-b' | replace('-', '+') }} {{ 'a,b'.split(',') | last }} {{ 'xxa'.lstrip('x') }} {{ 'a '.rstrip() }}| {{ 'abc'.startswith('ab') }} {{ 'abc'.endswith('x') }}
{{ messages | map(attribute='role') | join(',') }} {{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | rejectattr('role', 'eq', 'user') | list | length }}
{% for a, b in {'x': 1, 'y': 2} | items %}{{ a }}={{ b }}{{ loop.index }}{{ loop.last }};{% endfor %}
{% for a, b in {'x': 1}.items() %}{{ a ~ b }}{% endfor %}
{% for m in messages if m.role == 'user' %}{{ loop.index0 }}{{ loop.length }}{{ loop.revindex }}{% else %}none{% endfor %}
{% for m in [] %}x{% else %}none{% endfor %}
{% for c in 'ab' %}{% for d in [1, 2] %}{{ c ~ d ~ loop.index }} {% endfor %}{{ loop.index }}{% endfor %}
{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}
{% for i in range(1, 9, 3) %}{{ i }}{{ loop.previtem }}{{ loop.nextitem }},{% endfor %}
{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}
{% set ns = namespace(x=1, y='a') %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}{{ ns.y }}
{% if false %}{% set z = 1 %}{% elif true %}{% set z = 2 %}{% endif %}{{ z }}
{% set tools = tools if tools is not none else ['t'] %}{{ tools | tojson }}
{{ messages | tojson }}
{{ messages | tojson(indent=2) }}
{{ [] | tojson }}{{ {} | tojson }}{{ "é\n</" | tojson }}
{{ {'é': ['😀', "\n", 'a']} | tojson(ensure_ascii=true) }}{{ ['é'] | tojson(ensure_ascii=false) }}{{ [1, {'a': 2}] | tojson(indent=0) }}{{ [1, 2] | tojson(indent=none) }}
{% for a, b in {'b': 1, 'C': 2, 'a': 3, 'B': 4} | dictsort %}{{ a ~ b }}{% endfor %}{{ {} | dictsort | length }}
{{ nothing | dictsort }}
{{ [1] | dictsort }}
{{- '  x' -}}    y   {{- 'z' }}
  {%- if true -%}   a   {%- endif -%}   b
{% if true +%}
a
{%+ if true %}b{% endif %}{% endif %}
   {# comment #}
x {# c -#}   y   {#- d #} z
a {% if true %} b {% endif %} c
    {% if true %}
  in
    {% endif %}  
out
{% generation %}{{ 'g' }}{% endgeneration %}
{{ strftime_now is defined }}{{ raise_exception is defined }}{{ namespace is undefined }}
{{ bos_token }}{{ eos_token }}{{ nothing }}{{ pad_token is defined }}
{{ messages[0].content }}{{ messages[-1]['role'] }}{{ messages[0]['nothing'] is defined }}
{{ 'ß' | trim }}{{ "　 a " | trim }}|{{ "\tb" | trim }}
{{ messages[9].role }}
{{ nothing.role }}
{{ nothing + 'a' }}
{{ 'a' + 1 }}
{{ none | length }}
{{ 1 < 'a' }}
{{ raise_exception('no') }}
{% if %}{% endif %}
{% for x in 5 %}{% endfor %}
{{ 'a' }
{% if true %}
{% endif %}
{% set x 5 %}
{{ 1 // 0 }}
{{ f('x') }}
{{ messages }}
{{ [1, true, none, 'a', "it's", '"', "\\n\\t\\\\", {'b': [], 'c': {}}] ~ {} }} {{ [nothing] }}
{{ 'abc'.x is defined }} {{ 'abc'['x'] is defined }} {{ none.x is defined }} {{ (1).x is defined }} {{ [1].x is defined }} {{ [1]['x'] is defined }} {{ [1][none] is defined }}
{{ 'abc'[true] }} {{ [5, 6].0 }} {{ messages.0.role }} {{ messages[0].content.0 }}
{{ "it's ONE-two (three)" | title }} {{ "it's ONE-two (three)".title() }} {{ 'aBC d' | capitalize }} {{ 'aBC d'.capitalize() }}
{{ nothing | trim }}|{{ nothing | upper }}|{{ nothing | length }}|{{ nothing | join(',') }}|{{ nothing | list }}|{{ nothing | items | list }}|{{ nothing | first is defined }}|{{ nothing | string }}|{{ nothing | replace('a', 'b') }}|
{{ nothing | selectattr('a') | list | length }} {{ nothing | map(attribute='a') | list | length }} {{ nothing | reverse | list }}
{{ nothing | tojson }}
{{ 'a' in ('a', 'b') }} {{ 'a' not in ('b', 'c',) }} {{ 'a' in ('abc') }} {% for x in ('a', 'b') %}{{ x }}{% endfor %} {{ 1 in (1,) and true }}
{% set x %}a{{ 1 }}{% set y = 2 %}{% endset %}{{ x | upper }}{{ y is defined }}
{% set ns = namespace(x=1) %}{% set ns.x %}b{% endset %}{{ ns.x }}{% for i in [1, 2] %}{% set z %}{{ i }}{% endset %}{{ z }}{% endfor %}{{ z is defined }}
{% macro f(a, b='c', d=b) %}{{ a ~ b ~ d }};{% endmacro %}{{ f(1) }}{{ f(1, 2) }}{{ f(d=3, a=4) }}{{ f() }}{{ f(b=nothing) }}{{ f is defined }}{{ g is defined }}
{% macro f(a) %}{{ a.pop }}{% endmacro %}{{ f(nothing) }}
{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}
{% macro f(a) %}{% endmacro %}{{ f(b=1) }}
{% macro f(a) %}{% endmacro %}{{ f(1, a=1) }}
{% macro f(a, a) %}{% endmacro %}
{% macro f(a=1, b) %}{% endmacro %}
{{ f(1) }}{% macro f(a) %}{% endmacro %}
{% set x = 1 %}{% macro f() %}{{ x }}{% set x = 5 %}{{ x }}{% endmacro %}{{ f() }}{% set x = 2 %}{{ f() }}{% for x in [3] %}{{ f() }}{{ x }}{% endfor %}{{ x }}
{% macro f() %}{{ loop is defined }}{{ messages | length }}{% for i in [1, 2] %}{{ loop.index }}{% endfor %}{% endmacro %}{% for i in [1] %}{{ f() }}{{ loop.index }}{% endfor %}
{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}
{% macro f() %}  a  {% endmacro %}[{{ f() | trim }}][{{ f() ~ 'b' }}][{{ f() is string }}]
{% macro f(%}{% endmacro %}
{% macro f() %}
{% set x %}
""".strip("\n").split("\n")

REFUSED = r"""
{{ 1.5 }}
{{ 'É' | lower }}
{{ messages | groupby('role') | list | length }}
{{ (1, 2) | length }}
{{ 2 ** 3 }}
{% include 'a' %}
{{ 'a' is callable }}
{{ 'a%s' | format('b') }}
{% raw %}a{% endraw %}
{{ "\x41" }}
{{ "\u0041" }}
{{ 1 < 2 < 3 }}
{% for a in [1] recursive %}{% endfor %}
{{ 3 is divisibleby 3 }}
{{ messages[0].items }}
{{ 'a b'.split() }}
{{ unk_token }}
{% set x = 'a' | f %}
{% macro f() %}{{ caller() }}{% endmacro %}{% call f() %}a{% endcall %}
{% macro f() %}{{ varargs }}{% endmacro %}{{ f() }}
{% macro f() %}{% endmacro %}{{ f }}
{% for a in [1] %}{% macro f() %}{% endmacro %}{% endfor %}
{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}
{% macro f() %}{{ messages | length }}{% endmacro %}{{ f() }}{% set messages = [] %}
{% set f = 1 %}{% macro f() %}{% endmacro %}{{ f() }}
{{ messages[0]['items'] }}
{{ 'a'.upper }}
{{ [1].index is defined }}
{{ [1] | tojson(2) }}
{{ [1] | tojson(sort_keys=true) }}
{{ {'a': 1} | dictsort(true) }}
{{ {'É': 1} | dictsort }}
{{ (1, 2) in [[1, 2]] }}
{{ 1 in (1, 2)[0:1] }}
{{ [1.5] }}
{{ 'é'.title() }}
{% for i in [1] %}{% set x %}{% break %}{% endset %}{% endfor %}
""".strip("\n").split("\n")


class Generation(Extension):
    """Hugging Face's tag marks answers and writes what it holds."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_whole"), [], [], body).set_lineno(line)

    def _whole(self, caller):
        return caller()


def raise_exception(message):
    raise TemplateError(message)


def environment():
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols], undefined=Undefined)
    made.filters["tojson"] = lambda x, ensure_ascii=False, indent=None: json.dumps(x, ensure_ascii=ensure_ascii, indent=indent)
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: "now"
    return made


def case(template, messages, tools, asks, kind):
    made = {"kind": kind, "template": template, "messages": messages, "tools": tools, "asks": asks}
    variables = dict(TOKENS, messages=messages, tools=tools, documents=None, add_generation_prompt=asks)
    if kind == "refused":
        return made
    try:
        made["text"] = environment().from_string(template).render(**variables)
    except Exception as error:  # whatever Python has
        made["fails"] = type(error).__name__
    return made


def main():
    cases = []
    for name, template in FAMILIES.items():
        for messages in CONVERSATIONS:
            cases += [case(template, messages, None, asks, name) for asks in (False, True)]
        cases.append(case(template, CALLS, TOOLS, True, name))
        cases += [case(template, messages, None, True, name) for messages in (THOUGHTS, PARTS)]
    for template in SMALL:
        cases.append(case(template, CONVERSATIONS[2], None, False, "small"))
    cases.append(case("    {% if true %}\n  in\n    {% endif %}  \nout\n\n", CONVERSATIONS[0], None, False, "small"))
    cases.append(case("a\r\n  {# c #}\r\n{{ 'b' }}\n\n{% set x = 1 %}\n\nc{% if x %}\n\n d {%- endif %}\n", CONVERSATIONS[0], None, False, "small"))
    cases.append(case('{{ ["\u00e9\u2028", "\u00a0", "\u65e5", "\U0001f600", "\x7f", "\u200b", "\U000e0001"] }}', CONVERSATIONS[0], None, False, "small"))
    for template in REFUSED:
        cases.append(case(template, CONVERSATIONS[2], None, False, "refused"))
    with open(f"{sys.argv[1]}/cases.json", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in cases) + "\n]\n")


if __name__ == "__main__":
    main()

"""Chat templates with the constructs of those of Gemma 3, Qwen 3, OLMo 2 and 3, SmolLM 3 and Phi 3, in other words."""
from make import GEMMA, PHI3

GEMMA3 = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set before = messages[0]['content'] + '\\n\\n' -%}
    {%- else -%}
        {%- set before = messages[0]['content'][0]['text'] + '\\n\\n' -%}
    {%- endif -%}
    {%- set turns = messages[1:] -%}
{%- else -%}
    {%- set before = "" -%}
    {%- set turns = messages -%}
{%- endif -%}
{%- for message in turns -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("Roles must alternate") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '\\n' + (before if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for part in message['content'] -%}
            {%- if part['type'] == 'image' -%}
                {{ '<start_of_image>' }}
            {%- elif part['type'] == 'text' -%}
                {{ part['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("No such content") }}
    {%- endif -%}
    {{ '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model\\n'}}
{%- endif -%}
"""

GEMMA3_MARKED = GEMMA3.replace("""    {{ '<start_of_turn>' + role + '\\n' + (before if loop.first else "") }}
""", """    {{ '<start_of_turn>' + role + '\\n' + (before if loop.first else "") }}
    {%- if role == "model" -%}
    {%- generation -%}
    {{ message['content'] | trim + '<end_of_turn>\\n' }}
    {%- endgeneration -%}
    {%- continue -%}
    {%- endif -%}
""")

QWEN3 = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {{- "Tools:\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(open=true, last=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.open and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.open = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content if message.content is string else '' %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {{- '<|im_start|>' + message.role + '\\n' }}BEGIN
        {%- if loop.index0 > ns.last and (loop.last or (not loop.last and reasoning)) %}
            {{- '<think>\\n' + reasoning.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' }}
                {{- tool_call.name }}
                {{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}END
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
"""
QWEN3_MARKED = QWEN3.replace("BEGIN", "{%- generation %}").replace("END", "{%- endgeneration %}")
QWEN3 = QWEN3.replace("BEGIN", "").replace("END", "")

OLMO2 = """{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}{{ '<|system|>
' + message['content'] + '
' }}{% elif message['role'] == 'user' %}{{ '<|user|>
' + message['content'] + '
' }}{% elif message['role'] == 'assistant' %}{% if not loop.last %}{{ '<|assistant|>
'  + message['content'] + eos_token + '
' }}{% else %}{{ '<|assistant|>
'  + message['content'] + eos_token }}{% endif %}{% endif %}{% if loop.last and add_generation_prompt %}{{ '<|assistant|>
' }}{% endif %}{% endfor %}"""

OLMO3 = """{%- set has_system = messages|selectattr('role', 'equalto', 'system')|list|length > 0 -%}
{%- if not has_system -%}
    {{- '<|im_start|>system\\nNo functions. <functions></functions><|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
    {%- if message['role'] == 'assistant' -%}
        {{- '<|im_start|>assistant\\n' -}}
        {%- generation -%}
            {%- if message.get('content', none) is not none -%}{{- message['content'] -}}{%- endif -%}
            {%- if message.get('function_calls', none) is not none -%}
                {{- '<function_calls>' + message['function_calls'] + '</function_calls>' -}}
            {%- endif -%}
            {%- if not loop.last -%}{{- '<|im_end|>' + '\\n' -}}{%- else -%}{{- eos_token -}}{%- endif -%}
        {%- endgeneration -%}
    {%- elif message.get('functions', none) is not none -%}
        {{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '\\n<functions>' + message['functions'] + '</functions><|im_end|>\\n' -}}
    {%- else -%}
        {{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' -}}
    {%- endif -%}
    {%- if loop.last and add_generation_prompt -%}{{- '<|im_start|>assistant\\n<think>' -}}{%- endif -%}
{%- endfor -%}
"""

SMOLLM3 = """{# \u2500\u2500 what holds where nothing is said \u2500\u2500 #}
{%- if enable_thinking is not defined -%}
{%- set enable_thinking = true -%}
{%- endif -%}

{%- if enable_thinking -%}
  {%- set mode = "/think" -%}
{%- else -%}
  {%- set mode = "/no_think" -%}
{%- endif -%}

{{- "<|im_start|>system\\n" -}}
{%- if messages[0].role == "system" -%}
  {%- set system_message = messages[0].content -%}
  {%- if "/no_think" in system_message -%}
    {%- set mode = "/no_think" -%}
  {%- elif "/think" in system_message -%}
    {%- set mode = "/think" -%}
  {%- endif -%}
  {%- set own = system_message.replace("/no_think", "").replace("/think", "").rstrip() -%}
{%- endif -%}

{%- if "/system_override" in system_message -%}
  {{- own.replace("/system_override", "").rstrip() -}}
  {{- "<|im_end|>\\n" -}}
{%- else -%}
  {%- set today = strftime_now("%d %B %Y") -%}
  {{- "Today: " ~ today ~ "\\n" -}}
  {{- "Mode: " + mode + "\\n\\n" -}}
  {%- if own -%}
    {{- own + "\\n\\n" -}}
  {%- elif mode == "/think" -%}
    {{- "Think first: <think> thought </think> answer.\\n\\n" -}}
  {%- endif -%}

  {%- if xml_tools or python_tools or tools -%}
    {%- if xml_tools or tools -%}
      {%- if tools -%}
        {%- set xml_tools = tools -%}
      {%- endif -%}
      {%- set ns = namespace(xml="<tools>\\n") -%}
      {%- for tool in xml_tools[:] -%} {# a list, whatever it was #}
        {%- set ns.xml = ns.xml ~ (tool | string) ~ "\\n" -%}
      {%- endfor -%}
      {%- set xml = ns.xml + "</tools>\\n\\n<tool_call>\\n{\\"name\\": <function-name>}\\n</tool_call>" -%}
      {{- xml -}}
    {%- endif -%}
    {%- if python_tools -%}
      {%- set ns = namespace(python="<code>\\n") -%}
      {%- for tool in python_tools[:] -%}
        {%- set ns.python = ns.python ~ (tool | string) ~ "\\n" -%}
      {%- endfor -%}
      {{- ns.python -}}
    {%- endif -%}
    {{- "\\n\\n" -}}
    {{- "<|im_end|>\\n" -}}
  {%- endif -%}
{%- endif -%}
{%- for message in messages -%}
    {%- set content = message.content if message.content is string else "" -%}
    {%- if message.role == "user" -%}
        {{ "<|im_start|>" + message.role + "\\n"  + content + "<|im_end|>\\n" }}
    {%- elif message.role == "assistant" -%}
        {% generation %}
        {%- if mode == "/think" -%}
            {{ "<|im_start|>assistant\\n" + content.lstrip("\\n") + "<|im_end|>\\n" }}
        {%- else -%}
            {{ "<|im_start|>assistant\\n" + "<think>\\n\\n</think>\\n" + content.lstrip("\\n") + "<|im_end|>\\n" }}
        {%- endif -%}
        {% endgeneration %}
    {%- elif message.role == "tool" -%}
        {{ "<|im_start|>" + "user\\n"  + content + "<|im_end|>\\n" }}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {%- if mode == "/think" -%}
        {{ "<|im_start|>assistant\\n" }}
    {%- else -%}
        {{ "<|im_start|>assistant\\n" + "<think>\\n\\n</think>\\n"  }}
    {%- endif -%}
{%- endif -%}
"""

PHI3_MARKED = """{%- for message in messages -%}
    {%- if message['role'] == 'system' and message['content'] -%}
        {{- '<|system|>\\n' + message['content'] + '<|end|>\\n' -}}
    {%- elif message['role'] == 'assistant' -%}
        {{- '<|assistant|>\\n' -}}
        {%- generation -%}
            {{- message['content'] + '<|end|>\\n' -}}
        {%- endgeneration -%}
    {%- elif message['role'] != 'system' -%}
        {{- '<|' + message['role'] + '|>\\n' + message['content'] + '<|end|>\\n' -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt and messages[-1]['role'] != 'assistant' -%}
    {{- '<|assistant|>\\n' -}}
{%- else -%}
    {{- eos_token -}}
{%- endif -%}
"""

# template, tokenizer of ../tokenizer, special tokens
FAMILIES = {
    "gemma2": (GEMMA, "gemma", {"bos_token": "<bos>", "eos_token": "<eos>"}),
    "gemma3": (GEMMA3, "gemma", {"bos_token": "<bos>", "eos_token": "<eos>"}),
    "gemma3-marked": (GEMMA3_MARKED, "gemma", {"bos_token": "<bos>", "eos_token": "<eos>"}),
    "qwen3": (QWEN3, "qwen3", {"eos_token": "<|im_end|>"}),
    "qwen3-marked": (QWEN3_MARKED, "qwen3", {"eos_token": "<|im_end|>"}),
    "olmo2": (OLMO2, "olmo2", {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}),
    "olmo3": (OLMO3, "olmo2", {"eos_token": "<|endoftext|>"}),
    "smollm3": (SMOLLM3, "smollm3", {"eos_token": "<|im_end|>"}),
    "phi3": (PHI3, "phi3", {"bos_token": "<s>", "eos_token": "<|endoftext|>"}),
    "phi3-marked": (PHI3_MARKED, "phi3", {"bos_token": "<s>", "eos_token": "<|endoftext|>"}),
}

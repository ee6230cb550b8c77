"""A small server of the Model Context Protocol, on stdin and stdout: it keeps notes in a folder."""

import json
import os
import sys

FOLDER = sys.argv[1]

TEXT = {"type": "string"}
TOOLS = [
    {"name": "keep", "properties": {"name": TEXT, "text": TEXT}, "readOnlyHint": False},
    {"name": "find", "properties": {"name": TEXT}, "readOnlyHint": True},
]


def tool(name, properties, readOnlyHint):
    return {
        "name": name,
        "description": "Notes: " + name,
        "inputSchema": {"type": "object", "properties": properties},
        "annotations": {"readOnlyHint": readOnlyHint},
    }


def said(text):
    return {"content": [{"type": "text", "text": text}]}


def keep(name, text):
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, name), "w") as file:
        file.write(text)
    return said("KEPT " + name)


def read(name):
    if not os.path.exists(os.path.join(FOLDER, name)):
        return "nothing"
    with open(os.path.join(FOLDER, name)) as file:
        return file.read()


def uri(name):
    return "note:///" + name


def answer(method, asked):
    if method == "initialize":
        return {
            "protocolVersion": asked["protocolVersion"],
            "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": "notes", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [tool(**described) for described in TOOLS]}
    if method == "tools/call" and asked["name"] == "keep":
        return keep(**asked["arguments"])
    if method == "tools/call":
        return said("FOUND " + read(**asked["arguments"]))
    if method == "resources/list":
        names = os.listdir(FOLDER) if os.path.isdir(FOLDER) else []
        return {"resources": [{"uri": uri(name), "name": name} for name in names]}
    if method == "resources/read":
        name = asked["uri"].rsplit("/", 1)[1]
        return {"contents": [{"uri": uri(name), "text": read(name)}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)

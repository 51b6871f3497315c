"""A plugin's program in Python that serves several calls at once over gRPC.

It needs the packages grpcio and protobuf, and plugin.desc beside it, which
`protoc -o plugin.desc plugin.proto` makes: no code is generated.
"""

import json
import os
import queue
import sys
import threading
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if os.environ.get("TOOLHOST_PLUGIN_PROTOCOL") != "toolhost.plugin.v1":
    sys.exit("this program is a plugin, for toolhost to start")

here = os.path.dirname(os.path.abspath(__file__))
described = descriptor_pb2.FileDescriptorSet()
with open(os.path.join(here, "plugin.desc"), "rb") as file:
    described.ParseFromString(file.read())
messages = message_factory.GetMessages(described.file)


def message(name, **fields):
    return messages["toolhost.plugin.v1." + name](**fields)


class Call:
    """One call: what the tool is given, and what it can ask of the host."""

    def __init__(self, call):
        self.id, self.tool = call.id, call.tool
        self.arguments = json.loads(call.arguments)
        self.out = queue.Queue()  # what goes to the host; None ends the stream
        self.cancelled = threading.Event()
        self.replies, self.asked = {}, 0

    def progress(self, text):
        self.out.put(message("ToHost", progress=message("Progress", message=text)))

    def log(self, text):
        self.out.put(message("ToHost", log=message("Log", message=text)))

    def ask(self, method, params):
        self.asked += 1
        reply = self.replies[self.asked] = queue.Queue()
        self.out.put(message("ToHost", request=message("Request", id=self.asked, method=method, params=json.dumps(params).encode())))
        answer = reply.get()
        if answer.HasField("error"):
            raise RuntimeError(answer.error.message)
        return json.loads(answer.result)

    def run(self):
        try:
            result = message("Result", text=TOOLS[self.tool](self))
        except Exception as error:
            result = message("Result", error=str(error))
        self.out.put(message("ToHost", result=result))
        self.out.put(None)

    def listen(self, stream):
        """Takes what the host says after the call."""
        for said in stream:
            if said.HasField("cancel"):
                self.cancelled.set()
            elif said.HasField("reply"):
                self.replies.pop(said.reply.id).put(said.reply)


def greet(call):
    call.progress("thinking")
    call.log("a greeting is due")
    return "hello " + call.arguments["text"]


def complete(call):
    return call.ask("ai.complete", {"prompt": call.arguments["text"]})


def wait(call):
    call.progress("waiting")
    call.cancelled.wait()
    print("the call was cancelled", file=sys.stderr, flush=True)
    return ""


TOOLS = {"text": greet, "echo": complete, "wait": wait}


def list_tools(request, context):
    return message("ListToolsReply", tools=[message("Tool", id=name) for name in TOOLS])


def call_tool(stream, context):
    call = Call(next(stream).call)
    for work in (lambda: call.listen(stream), call.run):
        threading.Thread(target=work, daemon=True).start()
    context.add_callback(lambda: (call.cancelled.set(), call.out.put(None)))
    while (said := call.out.get()) is not None:
        yield said


def unary(function, kind=None):
    """A method with one request and one answer; without a kind both are bytes."""
    if kind is None:
        return grpc.unary_unary_rpc_method_handler(function)
    return grpc.unary_unary_rpc_method_handler(function, messages["toolhost.plugin.v1." + kind].FromString, lambda m: m.SerializeToString())


ended = threading.Event()
SERVING = b"\x08\x01"  # a HealthCheckResponse whose status is SERVING
server = grpc.server(futures.ThreadPoolExecutor(max_workers=32))
server.add_generic_rpc_handlers((
    grpc.method_handlers_generic_handler("toolhost.plugin.v1.Plugin", {
        "ListTools": unary(list_tools, "ListToolsRequest"),
        "CallTool": grpc.stream_stream_rpc_method_handler(call_tool, messages["toolhost.plugin.v1.ToPlugin"].FromString, lambda m: m.SerializeToString()),
    }),
    grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": unary(lambda request, context: SERVING)}),
    grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": unary(lambda request, context: ended.set() or b"")}),
))
socket = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "plugin.sock")
server.add_insecure_port("unix:" + socket)
server.start()
print(f"1|1|unix|{socket}|grpc", flush=True)
ended.wait()
server.stop(0.5).wait()

# Without compatibility with Node: what the client uses are standards of the web.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .program),
    # The room is on this computer.
    (name = "internet", network = (allow = ["private"]))
  ]
);

const program :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  bindings = [(name = "GIVEN", fromEnvironment = "GIVEN")]
);

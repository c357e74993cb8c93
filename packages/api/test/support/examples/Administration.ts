/** Workspaces, the room, keys, tickets of the console and changes. */
import * as ApiKeys from "../../../src/contract/ApiKeys.ts"
import * as Changes from "../../../src/contract/Changes.ts"
import * as ConsoleTickets from "../../../src/contract/ConsoleTickets.ts"
import * as Room from "../../../src/contract/Room.ts"
import * as Workspaces from "../../../src/contract/Workspaces.ts"
import { at, type Example, of } from "./Example.ts"

export const administrationExamples: ReadonlyArray<Example> = [
  of("Workspace", Workspaces.Workspace, { id: "ws1", name: "accounting", organization: { id: "o1", name: "Acme" } }),
  of("ApiKey", ApiKeys.ApiKey, { id: "k1", name: "ci", permissions: ["Processes.read_runs"], created_at: at }),
  of("ApiKeyCreated", ApiKeys.ApiKeyCreated, {
    id: "k1",
    name: "ci",
    permissions: ["Processes.read_runs"],
    created_at: at,
    key: "sbk_k1_secret"
  }),
  of("ConsoleTicket", ConsoleTickets.ConsoleTicket, {
    ticket: "sbt_t1_secret",
    url: "http://127.0.0.1:4700/console/#ticket=sbt_t1_secret",
    expires_at: at
  }),
  of("Room", Room.Room, {
    paused: false,
    resumed_at: "2026-11-20T08:00:00.000Z",
    resumed_by: { id: "k1" },
    nodes: [{ id: "n1", name: "signalbox-1", version: "0.2.0", state: "online", last_seen_at: at }]
  }),
  of("RoomNode", Room.RoomNode, {
    id: "n1",
    name: "signalbox-1",
    version: "0.2.0",
    state: "offline",
    last_seen_at: at
  }),
  of("WorkspaceCreated", Workspaces.WorkspaceCreated, {
    id: "ws2",
    name: "staging",
    organization: { id: "o1", name: "Acme" },
    api_key: {
      id: "k1",
      name: "first key",
      permissions: ["Processes.read_runs"],
      created_at: at,
      key: "sbk_k1_secret"
    }
  }),
  of("Change", Changes.Change, { topic: "runs", id: "r1", seq: 7 })
]

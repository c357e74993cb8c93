/** Workspaces, the room, keys, tickets of the console and changes. */
import * as ApiKeys from "../../../src/contract/ApiKeys.ts"
import * as Audit from "../../../src/contract/Audit.ts"
import * as Changes from "../../../src/contract/Changes.ts"
import * as ConsoleTickets from "../../../src/contract/ConsoleTickets.ts"
import * as Roles from "../../../src/contract/Roles.ts"
import * as Room from "../../../src/contract/Room.ts"
import * as Users from "../../../src/contract/Users.ts"
import * as Workspaces from "../../../src/contract/Workspaces.ts"
import { at, type Example, of } from "./Example.ts"

const user = {
  id: "u1",
  login: "ada",
  first_name: "Ada",
  last_name: "Lovelace",
  email: "ada@example.com",
  state: "active",
  role: "operator",
  manages_room: false,
  second_factor: true,
  sign_in_provider: "entra",
  created_at: at,
  last_sign_in_at: at
}

export const administrationExamples: ReadonlyArray<Example> = [
  of("Workspace", Workspaces.Workspace, { id: "ws1", name: "accounting", organization: { id: "o1", name: "Acme" } }),
  of("ApiKey", ApiKeys.ApiKey, {
    id: "k1",
    name: "ci",
    permissions: ["Processes.read_runs"],
    created_at: at,
    created_by: { type: "user", id: "u1", name: "Ada Lovelace" },
    owner: { id: "u1", login: "ada" },
    expires_at: at,
    last_used_at: at
  }),
  of("ApiKeyCreated", ApiKeys.ApiKeyCreated, {
    id: "k1",
    name: "ci",
    permissions: ["Processes.read_runs"],
    created_at: at,
    created_by: { type: "user", id: "u1", name: "Ada Lovelace" },
    owner: null,
    expires_at: null,
    last_used_at: null,
    key: "sbk_k1_secret"
  }),
  of("AuditChange", Audit.AuditChange, { field: "name", before: "ci", after: { bytes: 4000, digest: "0f" } }),
  of("AuditEntry", Audit.AuditEntry, {
    id: "e1",
    number: 1,
    mac: "0f",
    previous_mac: null,
    created_at: at,
    actor: { type: "api_key", id: "k1", name: "ci", session_id: null },
    address: "192.0.2.7",
    request_id: "r1",
    action: "updateProcess",
    resource: { type: "process", id: "p1", name: "Invoices" },
    changes: [{ field: "name", before: "Bills", after: "Invoices" }]
  }),
  of("AuditHead", Audit.AuditHead, { number: 1, mac: "0f" }),
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
  of("Role", Roles.Role, { name: "clerk", permissions: ["Processes.read_runs"], built_in: false }),
  of("User", Users.User, user),
  of("UserInvited", Users.UserInvited, {
    ...user,
    link: { url: "http://127.0.0.1:4700/console/#link=sbi_l1_secret", expires_at: at }
  }),
  of("SignInRules", Users.SignInRules, { second_factor_required: true }),
  of("UserSession", Users.UserSession, {
    id: "s1",
    created_at: at,
    last_used_at: at,
    expires_at: at,
    address: "192.0.2.7",
    browser: "Mozilla/5.0"
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
      created_by: { type: "user", id: "u1", name: "Ada Lovelace" },
      owner: null,
      expires_at: null,
      last_used_at: null,
      key: "sbk_k1_secret"
    }
  }),
  of("Change", Changes.Change, { topic: "runs", id: "r1", seq: 7 })
]

/** Workspaces, the room, keys, the console and the stream of changes. */
import { changeTopics, pingEvent } from "../../contract/Changes.ts"
import type { ApiKeys } from "../../contract/ApiKeys.ts"
import type { Audit } from "../../contract/Audit.ts"
import type { Changes } from "../../contract/Changes.ts"
import type { ConsoleTickets } from "../../contract/ConsoleTickets.ts"
import type { RoomGroup } from "../../contract/Room.ts"
import type { Workspaces } from "../../contract/Workspaces.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badPage, unknown } from "./Phrases.ts"

export const workspaces: Documented<typeof Workspaces> = {
  getWorkspace: {
    description:
      "Returns the name of the workspace and its organization. Any valid key of the workspace may read them, so this is also the cheapest way to check a key.",
    response: { id: ids.workspace, name: "Accounting", organization: { id: ids.organization, name: "Example" } },
    errors: { 404: "No workspace has this id." }
  },
  createWorkspace: {
    description:
      "Creates a workspace in the organization of the caller's workspace, with a first key that has every permission but `Vault.read_secret_values`. The text of that key is returned only here. The caller's own key has no access to the new workspace.",
    request: { name: "Staging" },
    response: {
      id: ids.secondWorkspace,
      name: "Staging",
      organization: { id: ids.organization, name: "Example" },
      api_key: {
        id: ids.firstKey,
        name: "first key",
        permissions: ["Assets.read_asset_storage_assets", "Assets.write_asset_storage_assets"],
        created_at: "2026-11-20T08:15:29.980Z",
        created_by: { type: "api_key", id: ids.callerKey, name: "deploy" },
        owner: null,
        expires_at: null,
        last_used_at: null,
        key: "sbk_019aa0b2-5c00-7000-8000-0000000000a4_secret"
      }
    },
    errors: {
      400: badBody,
      403: "The key lacks `Workspace.manage_api_keys`, or the service lets no caller create workspaces."
    }
  }
}

const node = {
  id: "5c0d8d4e-0f0b-4c54-9f0e-2a8f4d1e7b10",
  name: "signalbox-1",
  version: "0.2.0",
  state: "online",
  last_seen_at: "2026-11-20T08:15:30.204Z"
} as const

export const room: Documented<typeof RoomGroup> = {
  getRoom: {
    description:
      "Returns whether the room is paused since it was restored from a backup, and its nodes. While it is paused, everything can be read and changed, but no step run is leased, no timer runs and nothing is delivered. A node is a process that serves the room; on Postgres there can be several, which should have the same version. Any valid key may read it.",
    response: { paused: false, resumed_at: null, resumed_by: null, nodes: [node] },
    errors: {}
  },
  resumeRoom: {
    description:
      "Ends the pause of a restored room, for all of its workspaces. In a room that is not paused it changes nothing, so it is safe to repeat.",
    response: { paused: false, resumed_at: null, resumed_by: null, nodes: [node] },
    errors: {}
  }
}

export const apiKeys: Documented<typeof ApiKeys> = {
  listApiKeys: {
    description:
      "Returns the keys of the workspace, newest first, with their permissions. The keys themselves are stored as hashes and cannot be read again.",
    response: {
      data: [
        {
          id: ids.apiKey,
          name: "ci",
          permissions: ["Processes.trigger_processes", "Processes.read_processes"],
          created_at: "2026-11-20T08:15:30.000Z",
          created_by: { type: "api_key", id: ids.callerKey, name: "deploy" },
          owner: null,
          expires_at: null,
          last_used_at: "2026-11-20T09:00:00.000Z"
        }
      ],
      has_more: false,
      next: null
    },
    errors: { 400: badPage }
  },
  createApiKey: {
    description:
      "Creates a key with the given permissions. `key` in the response is its text, which is returned only here. Names need not be unique.",
    request: { name: "ci", permissions: ["Processes.trigger_processes", "Processes.read_processes"] },
    response: {
      id: ids.apiKey,
      name: "ci",
      permissions: ["Processes.trigger_processes", "Processes.read_processes"],
      created_at: "2026-11-20T08:15:30.000Z",
      created_by: { type: "api_key", id: ids.callerKey, name: "deploy" },
      owner: null,
      expires_at: null,
      last_used_at: null,
      key: "sbk_019aa0b2-5c00-7000-8000-0000000000a5_secret"
    },
    errors: {
      400: badBody,
      404: "The workspace has no user with the id in `owner`.",
      403: "The key lacks `Workspace.manage_api_keys`, or one of the permissions that it would grant; only `Vault.read_secret_values` may be granted by a key without it."
    }
  },
  updateApiKey: {
    description:
      "Hands a key over to a user of the workspace whose role has all its permissions; `null`: to the workspace. A key can never do more than its owner, and is deleted with them.",
    request: { owner: { id: ids.user } },
    response: {
      id: ids.apiKey,
      name: "ci",
      permissions: ["Processes.trigger_processes", "Processes.read_processes"],
      created_at: "2026-11-20T08:15:30.000Z",
      created_by: { type: "api_key", id: ids.callerKey, name: "deploy" },
      owner: { id: ids.user, login: "ada@example.com" },
      expires_at: null,
      last_used_at: null
    },
    errors: {
      400: "The body does not match the schema, or the role of the user lacks a permission of the key. The message says which.",
      403: "The caller lacks `Workspace.manage_api_keys`, or a permission of the key.",
      404: unknown("API key")
    }
  },
  deleteApiKey: {
    description:
      "Revokes a key. Requests with it are refused from then on, and the sessions of the console that it opened end. Schedules and triggers that it created continue. Irreversible.",
    response: { id: ids.apiKey, deleted: true },
    errors: { 404: unknown("API key") }
  }
}

const auditEntry = {
  id: ids.auditEntry,
  number: 17,
  mac: "5f1c0f0a5f6d2d1b8f4c9d1f6b2a7e3c5f1c0f0a5f6d2d1b8f4c9d1f6b2a7e3c",
  previous_mac: "0b7d3e1a9c4f8e2d6b5a0f1c7e9d3b8a0b7d3e1a9c4f8e2d6b5a0f1c7e9d3b8a",
  created_at: "2026-11-20T08:15:30.000Z",
  actor: { type: "api_key", id: ids.apiKey, name: "ci", session_id: null },
  address: "192.0.2.7",
  request_id: "4f5b1c1e-2c7b-4b53-9d55-6d3f6f0f8a11",
  action: "updateProcess",
  resource: { type: "process", id: ids.process, name: "Invoices" },
  changes: [{ field: "description", before: null, after: "Reads invoices" }]
} as const

const badFilter = "`from` or `until` is not a time, or another filter is empty. The message names the parameter."

export const audit: Documented<typeof Audit> = {
  listAuditEntries: {
    description:
      "Returns who changed what, newest first: requests of people and of keys, and what the service changed by itself. Work items that keys create and change are not in it, and what workers and robots do is in the events of their runs. Payloads, files, secrets and long values are `{ bytes, digest }`, by a digest with a key of the room.",
    response: { data: [auditEntry], has_more: false, next: null },
    errors: { 400: badPage }
  },
  getAuditHead: {
    description:
      "Returns the number and the MAC of the last entry. Store them outside of the control room: `signalbox check --audit-head` then finds entries that were cut off at the end.",
    response: { number: 17, mac: auditEntry.mac },
    errors: {}
  },
  exportAudit: {
    description:
      "Returns the entries, oldest first, as one JSON object a line. `signalbox audit verify` checks such a file on the machine that has the key of the room. The export is an entry of the audit itself.",
    response: `${JSON.stringify(auditEntry)}\n`,
    errors: { 400: badFilter }
  }
}

export const consoleTickets: Documented<typeof ConsoleTickets> = {
  createConsoleTicket: {
    description:
      "Creates a ticket that opens one session of the console, once and within its lifetime. The session has the permissions of the caller's key and ends when the key is revoked.",
    request: { lifetime_seconds: 60 },
    response: {
      ticket: "sbt_019aa0b2-5c00-7000-8000-0000000000ff_secret",
      url: "https://robots.example.com/console/#ticket=sbt_019aa0b2-5c00-7000-8000-0000000000ff_secret",
      expires_at: "2026-11-20T08:16:30.024Z"
    },
    errors: {
      400: badBody,
      403: "The key is unknown or of another workspace, or it is the token of a run, which may not open the console."
    }
  }
}

export const changes: Documented<typeof Changes> = {
  watchChanges: {
    description: `Server-sent events that say what to load again. The data of each is JSON, \`{"topic", "id", "seq"}\`, and its id is the \`seq\`. A stream begins with the topic \`reset\`, which means: load everything; it is also sent when hints were left out, for example to a reader that is slow. The topics are ${Object.keys(
      changeTopics
    )
      .map((topic) => `\`${topic}\``)
      .join(
        ", "
      )}; a caller receives those that its key may read. A hint may be sent twice, and one hint may stand for several changes. An event \`${pingEvent}\` is sent every 10 seconds. The stream ends when the key is revoked or the service stops; connect again with \`Last-Event-ID\` or \`after\` to continue.`,
    response: 'id: 7\ndata: {"topic":"runs","id":"019aa0b2-5c00-7000-8000-0000000000c3","seq":7}\n\n',
    errors: { 400: "`after` is not a whole number from 0. Connect again without it." }
  }
}

/** `signalbox audit`: who changed what, and whether that was tampered with. */
import * as Audit from "@signalbox/api/Audit"
import * as Administration from "@signalbox/control-room/Administration"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../../connection/Connection.ts"
import { type Columns, printList } from "../../output/List.ts"
import { flagsOf } from "../../settings/Setting.ts"
import * as Storage from "../../settings/Storage.ts"

/** The file of an export was altered, or is none. */
export class NotGenuine extends TaggedError<NotGenuine>()("NotGenuine", { message: Schema.String }) {}

const columns: Columns<Audit.AuditEntry> = {
  time: ({ created_at }) => created_at,
  by: ({ actor }) => actor.name ?? actor.id ?? actor.type,
  from: ({ address }) => address ?? "",
  action: ({ action }) => action,
  resource: ({ resource }) => `${resource.type} ${resource.name ?? resource.id ?? ""}`.trim(),
  changed: ({ changes }) => changes.map(({ field }) => field).join(", ")
}

const filtered = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const list = Command.make(
  "list",
  {
    room: Flag.Boolean("room").pipe(
      Flag.withDescription(
        "The audit of the room instead of that of the workspace: accounts, sign-ins, workspaces, restores; needs `Room.manage`"
      ),
      Flag.withDefault(false)
    ),
    actor: filtered("actor", "Only changes by this key or person, by id"),
    action: filtered("action", "Only this operation, such as `updateProcess`"),
    type: filtered("type", "Only changes of this kind of resource, such as `process`"),
    resource: filtered("resource", "Only changes of the resource with this id; of a secret its name"),
    from: filtered("from", "Not before this time, such as 2026-11-20T00:00:00Z"),
    until: filtered("until", "Before this time"),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ action, actor, data, from, json, resource, room, type, until }) {
    const filter: Audit.Filter = {
      chain: room ? "room" : undefined,
      actor: Option.getOrUndefined(actor),
      action: Option.getOrUndefined(action),
      resourceType: Option.getOrUndefined(type),
      resource: Option.getOrUndefined(resource),
      from: Option.getOrUndefined(from),
      until: Option.getOrUndefined(until),
      limit: 500
    }
    yield* connected(data)(printList(json, Audit.stream(filter), columns, "No entries"))
  })
).pipe(
  Command.withDescription("Lists who changed what, newest first"),
  Command.withExamples([
    { command: "signalbox audit list --type secret", description: "List changes of secrets" },
    {
      command: "signalbox audit list --from 2026-11-01T00:00:00Z --json",
      description: "Print a line of JSON for each"
    },
    { command: "signalbox audit list --room --action refuseSignIn", description: "List refused sign-ins" }
  ])
)

const storage = flagsOf(Storage.storage)
const json = Flag.Boolean("json").pipe(Flag.withDescription("Print one line of JSON"), Flag.withDefault(false))

const head = Command.make(
  "head",
  { storage, json },
  Effect.fnUntraced(function* ({ json, storage }) {
    const heads = yield* Administration.auditHeads(yield* Storage.read(storage))
    if (heads.length === 0) return yield* Console.error("No entries yet")
    const lines = heads.map((one) => (json ? JSON.stringify(one) : `${one.workspace_id} ${one.number} ${one.mac}`))
    yield* Console.log(lines.join("\n"))
  })
).pipe(
  Command.withDescription(
    "Prints the end of the audit of each workspace and of the room. Store it on another machine: `signalbox check --audit-head` then finds what was cut off"
  ),
  Command.withExamples([
    { command: "signalbox audit head --json > /mnt/elsewhere/audit-head", description: "Store the ends elsewhere" }
  ])
)

const verify = Command.make(
  "verify",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("An export of the audit, a line of JSON for each entry")
    ),
    storage,
    json
  },
  Effect.fnUntraced(function* ({ file, json, storage }) {
    const text = yield* (yield* FileSystem.FileSystem).readFileString(file)
    const lines = text.split("\n").filter((line) => line !== "")
    const found = yield* Administration.verifyAudit(yield* Storage.read(storage), lines)
    const ok = found.problems.length === 0
    if (json) yield* Console.log(JSON.stringify({ ok, ...found }))
    else yield* Console.log(ok ? `all ${found.entries} entries are genuine` : found.problems.join("\n"))
    if (!ok)
      return yield* new NotGenuine({ message: `${file} has entries that were altered, or are in the wrong place` })
  })
).pipe(
  Command.withDescription(
    "Checks an export of the audit, on the machine with the key of the room. Exits with 1 when an entry was altered"
  ),
  Command.withExamples([
    {
      command: "signalbox audit verify audit.ndjson --data .signalbox",
      description: "Check an export from the console"
    }
  ])
)

export const audit = Command.make("audit").pipe(
  Command.withDescription("Lists who changed what, and checks exports of that"),
  Command.withSubcommands([list, head, verify])
)

/**
 * `signalbox keys`: the API keys of the workspace.
 */
import * as ApiKeys from "@signalbox/api/ApiKeys"
import { Permission } from "@signalbox/api/contract/Authorization"
import { ApiKeyId } from "@signalbox/api/contract/Ids"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../Connection.ts"
import { table } from "../Table.ts"

const create = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(Flag.withDescription("What the key is for")),
    permission: Flag.Literals("permission", Permission.literals).pipe(
      Flag.withDescription(
        "A permission of the key; repeat it for more. A key grants only permissions that it has itself"
      ),
      Flag.withMetavar("PERMISSION"),
      Flag.atLeast(1)
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, name, permission }) {
    const { key, ...made } = yield* connected(data)(ApiKeys.create(name, permission))
    const text = Redacted.value(key)
    if (json) return yield* Console.log(JSON.stringify({ ...made, key: text }))
    yield* Console.log(text)
    yield* Console.error(
      `This is key ${made.id}. It is shown only now; revoke it with \`signalbox keys revoke ${made.id}\``
    )
  })
).pipe(
  Command.withDescription("Creates a key and prints it, only this once"),
  Command.withExamples([
    {
      command:
        "signalbox keys create --name ci --permission Processes.trigger_processes --permission Processes.read_runs",
      description: "A key that starts and reads runs"
    },
    {
      command: "signalbox keys create --name robot --permission Vault.read_secret_values --json",
      description: "For programs: one line with `id`, `name`, `permissions`, `created_at` and `key`"
    }
  ])
)

const list = Command.make(
  "list",
  connectionFlags,
  Effect.fnUntraced(function* ({ data, json }) {
    const keys = yield* connected(data)(Stream.runCollect(ApiKeys.stream({ limit: 500 })))
    if (json) return yield* Effect.forEach(keys, (key) => Console.log(JSON.stringify(key)), { discard: true })
    yield* Console.log(
      table(
        ["id", "name", "created at", "permissions"],
        keys.map((key) => [key.id, key.name, key.created_at, key.permissions.join(" ")])
      )
    )
  })
).pipe(
  Command.withDescription("Lists the keys, the newest first, without their texts"),
  Command.withExamples([{ command: "signalbox keys list", description: "Keys and their permissions" }])
)

const revoke = Command.make(
  "revoke",
  {
    key: Argument.String("key").pipe(
      Argument.withDescription("The id of a key, as `keys list` shows it"),
      Argument.withSchema(ApiKeyId)
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, key }) {
    const answer = yield* connected(data)(ApiKeys.remove(key))
    yield* Console.log(json ? JSON.stringify(answer) : `${key} is revoked: it is refused from now on`)
  })
).pipe(
  Command.withDescription("Revokes a key. Irreversible"),
  Command.withExamples([
    { command: "signalbox keys revoke 0199a1b2-...", description: "It is refused from the next request on" }
  ])
)

export const keys = Command.make("keys").pipe(
  Command.withDescription("Creates, lists and revokes API keys of the workspace"),
  Command.withSubcommands([create, list, revoke])
)

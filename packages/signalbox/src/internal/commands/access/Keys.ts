/**
 * `signalbox keys`: the API keys of the workspace.
 */
import * as ApiKeys from "@signalbox/api/ApiKeys"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import { printList } from "../../output/List.ts"
import { find, nameArgument, type Noun, showCommand } from "../../resources/Resource.ts"

const keyNoun: Noun<ApiKeys.ApiKey> = {
  one: "API key",
  many: "API keys",
  command: "keys",
  list: () => ApiKeys.stream({ limit: 500 }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    "created at": ({ created_at }) => created_at,
    permissions: ({ permissions }) => permissions.join(" ")
  },
  first: "create one with `signalbox keys create`"
}

const create = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(Flag.withDescription("The name of the key, such as its purpose")),
    permission: Flag.Literals("permission", Permission.literals).pipe(
      Flag.withDescription(
        "A permission of the key; may be repeated. A key can grant only the permissions that it has"
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
      `Key ${made.id}: copy it now; it is not shown again. Revoke it with \`signalbox keys revoke ${made.id}\``
    )
  })
).pipe(
  Command.withDescription("Creates an API key and prints it; the key is not shown again"),
  Command.withExamples([
    {
      command:
        "signalbox keys create --name ci --permission Processes.trigger_processes --permission Processes.read_runs",
      description: "Create a key that starts and reads runs"
    },
    {
      command: "signalbox keys create --name robot --permission Vault.read_secret_values --json",
      description: "Print one line of JSON with `id`, `name`, `permissions`, `created_at` and `key`"
    }
  ])
)

const list = Command.make(
  "list",
  connectionFlags,
  Effect.fnUntraced(function* ({ data, json }) {
    yield* connected(data)(printList(json, keyNoun.list({}), keyNoun.columns, "No API keys"))
  })
).pipe(
  Command.withDescription("Lists API keys, newest first, without their secrets"),
  Command.withExamples([{ command: "signalbox keys list", description: "List keys with their permissions" }])
)

const revoke = Command.make(
  "revoke",
  {
    key: nameArgument(keyNoun),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, key }) {
    const revoked = Effect.flatMap(find(keyNoun, key), ({ id }) => ApiKeys.remove(id))
    yield* print(
      json,
      yield* connected(data)(revoked),
      ({ id }) => `${id} revoked: requests with this key are refused immediately`
    )
  })
).pipe(
  Command.withAlias("delete"),
  Command.withDescription("Revokes an API key. Irreversible"),
  Command.withExamples([
    { command: "signalbox keys revoke ci", description: "Requests with this key are refused immediately" }
  ])
)

export const keys = Command.make("keys").pipe(
  Command.withDescription("Creates, lists, shows and revokes API keys of the workspace"),
  Command.withSubcommands([create, list, showCommand(keyNoun, Effect.succeed), revoke])
)

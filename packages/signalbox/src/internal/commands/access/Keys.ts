/**
 * `signalbox keys`: the API keys of the workspace.
 */
import * as ApiKeys from "@signalbox/api/ApiKeys"
import { Permission } from "@signalbox/api/contract/Authorization"
import { defined } from "@signalbox/transport/Defined"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import { printList } from "../../output/List.ts"
import { findUser } from "./UserNoun.ts"
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
    owner: ({ owner }) => owner?.login ?? "-",
    "created at": ({ created_at }) => created_at,
    "last used": ({ last_used_at }) => last_used_at ?? "-",
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
    owner: Flag.String("owner").pipe(
      Flag.withDescription("The login of the user with whom the key ends; default: none, it is the workspace's"),
      Flag.optional
    ),
    expiresAt: Flag.String("expires-at").pipe(
      Flag.withDescription("From when on it is refused, such as 2027-01-01T00:00:00Z; default: never"),
      Flag.optional
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, expiresAt, json, name, owner, permission }) {
    const creating = Effect.gen(function* () {
      const user = Option.isSome(owner) ? yield* findUser(owner.value) : undefined
      const options = defined({
        owner: user === undefined ? undefined : { id: user.id },
        expires_at: Option.getOrUndefined(expiresAt)
      })
      return yield* ApiKeys.create(name, permission, options)
    })
    const { key, ...made } = yield* connected(data)(creating)
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

const owner = Command.make(
  "owner",
  {
    key: nameArgument(keyNoun),
    user: Argument.String("user").pipe(
      Argument.withDescription("The login of the new owner; left out: the workspace"),
      Argument.optional
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, key, user }) {
    const handing = Effect.gen(function* () {
      const { id } = yield* find(keyNoun, key)
      return yield* ApiKeys.setOwner(id, Option.isSome(user) ? (yield* findUser(user.value)).id : null)
    })
    yield* print(
      json,
      yield* connected(data)(handing),
      ({ name, owner }) => `${name} belongs to ${owner?.login ?? "the workspace"} now`
    )
  })
).pipe(
  Command.withDescription("Hands a key over to a user, or to the workspace; it never can do more than its owner"),
  Command.withExamples([
    { command: "signalbox keys owner ci bob", description: "Bob's role needs all permissions of the key" },
    { command: "signalbox keys owner ci", description: "It stays when its owner leaves" }
  ])
)

export const keys = Command.make("keys").pipe(
  Command.withDescription("Creates, lists, shows and revokes API keys of the workspace"),
  Command.withSubcommands([create, list, showCommand(keyNoun, Effect.succeed), owner, revoke])
)

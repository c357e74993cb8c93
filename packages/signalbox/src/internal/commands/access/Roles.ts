/** `signalbox roles`: what users of the workspace may do. */
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Roles from "@signalbox/api/Roles"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import { printTable } from "../../output/List.ts"

const listRoles = Command.make(
  "list",
  connectionFlags,
  Effect.fnUntraced(function* ({ data, json }) {
    const found = yield* connected(data)(Roles.all())
    if (json) return yield* Effect.forEach(found, (one) => Console.log(JSON.stringify(one)), { discard: true })
    yield* printTable(
      ["name", "permissions"],
      found.map(({ built_in, name, permissions }) => [built_in ? `${name} (built in)` : name, permissions.join(" ")]),
      "No roles"
    )
  })
).pipe(
  Command.withDescription("Lists the roles with their permissions, those that every workspace has first"),
  Command.withExamples([{ command: "signalbox roles list", description: "Print a table" }])
)

const roleName = Argument.String("name").pipe(Argument.withDescription("The name of the role"))

const putRole = Command.make(
  "put",
  {
    name: roleName,
    permission: Flag.Literals("permission", Permission.literals).pipe(
      Flag.withDescription("A permission of the role; may be repeated. You can give only permissions that you have"),
      Flag.withMetavar("PERMISSION"),
      Flag.atLeast(1)
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, name, permission }) {
    const made = yield* connected(data)(Roles.put(name, permission))
    yield* print(json, made, ({ permissions }) => `${name}: ${permissions.join(" ")}`)
  })
).pipe(
  Command.withDescription("Creates a role, or replaces its permissions"),
  Command.withExamples([
    {
      command: "signalbox roles put clerk --permission Processes.read_runs --permission Processes.trigger_processes",
      description: "Sees runs and starts them, and nothing else"
    }
  ])
)

const removeRole = Command.make(
  "delete",
  { name: roleName, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, name }) {
    yield* print(json, yield* connected(data)(Roles.remove(name)), () => `deleted role ${name}`)
  })
).pipe(
  Command.withDescription("Deletes a role that no user has"),
  Command.withExamples([{ command: "signalbox roles delete clerk", description: "First give its users another one" }])
)

export const roles = Command.make("roles").pipe(
  Command.withDescription("Lists, creates, changes and deletes roles of the workspace"),
  Command.withSubcommands([listRoles, putRole, removeRole])
)

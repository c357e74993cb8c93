/** `signalbox workspaces`: the workspace of the key, and further ones. */
import * as Workspaces from "@signalbox/api/Workspaces"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../../connection/Connection.ts"

const create = Command.make(
  "create",
  { name: Flag.String("name").pipe(Flag.withDescription("The name of the workspace")), ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, name }) {
    const { api_key, ...workspace } = yield* connected(data)(Workspaces.create(name))
    const key = Redacted.value(api_key.key)
    if (json) return yield* Console.log(JSON.stringify({ ...workspace, api_key: { ...api_key, key } }))
    yield* Console.log(`SIGNALBOX_WORKSPACE_ID=${workspace.id}\nSIGNALBOX_API_KEY=${key}`)
    yield* Console.error(
      "Copy this key now; it is not shown again. It has all permissions except reading the values of secrets"
    )
  })
).pipe(
  Command.withDescription(
    "Creates a workspace with a first key, and prints variables to connect; the key is not shown again"
  ),
  Command.withExamples([
    { command: "signalbox workspaces create --name staging", description: "Print variables for the environment" }
  ])
)

const show = Command.make(
  "show",
  connectionFlags,
  Effect.fnUntraced(function* ({ data, json }) {
    const workspace = yield* connected(data)(Workspaces.get)
    const { id, name, organization } = workspace
    yield* Console.log(
      json ? JSON.stringify(workspace) : `${id}  ${name}  (organization ${organization.name}, ${organization.id})`
    )
  })
).pipe(
  Command.withDescription("Shows the workspace of the key"),
  Command.withExamples([{ command: "signalbox workspaces show", description: "Show the name and id of the workspace" }])
)

export const workspaces = Command.make("workspaces").pipe(
  Command.withDescription("Shows the workspace, and creates workspaces"),
  Command.withSubcommands([create, show])
)

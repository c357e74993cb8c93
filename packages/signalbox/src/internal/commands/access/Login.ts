/** `signalbox login`, `contexts` and `env`: connections that are kept under a name, and the one in use. */
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { layer as connect } from "@signalbox/api/node"
import * as Workspaces from "@signalbox/api/Workspaces"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { askedKey } from "../../connection/AskedKey.ts"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import * as Contexts from "../../connection/Contexts.ts"
import { printTable } from "../../output/List.ts"
import { quoted } from "../../text/ShellWord.ts"

const contextArgument = Argument.String("context").pipe(
  Argument.withDescription("The name of a context"),
  Argument.withSchema(Contexts.ContextName)
)

export const login = Command.make(
  "login",
  {
    context: contextArgument,
    url: Flag.String("url").pipe(
      Flag.withDescription("The address of the control room"),
      Flag.withSchema(
        Schema.String.check(
          Schema.isPattern(/^https?:\/\/[^\s/]+\S*$/i, {
            message: "Expected an absolute http or https address, such as https://room.example.com"
          })
        )
      )
    ),
    workspace: Flag.String("workspace").pipe(
      Flag.withDescription("The id of the workspace"),
      Flag.withSchema(WorkspaceId)
    ),
    json: connectionFlags.json
  },
  Effect.fnUntraced(function* ({ context, json, url, workspace }) {
    const apiKey = yield* askedKey("SIGNALBOX_API_KEY", "The key of the workspace")
    // A connection that does not work is not stored.
    const { name } = yield* Effect.provide(Workspaces.get, connect({ baseUrl: url, workspaceId: workspace, apiKey }))
    const file = yield* Contexts.save(context, {
      base_url: url,
      workspace_id: workspace,
      api_key: Redacted.value(apiKey)
    })
    yield* print(
      json,
      { context, base_url: url, workspace_id: workspace, file },
      () => `The workspace ${name} is saved as the context ${context} in ${file}; use it with --context ${context}`
    )
  })
).pipe(
  Command.withDescription(
    "Saves a connection under a name, in a file that only you can read. The key comes from SIGNALBOX_API_KEY or a prompt"
  ),
  Command.withExamples([
    {
      command: "signalbox login staging --url https://room.example.com --workspace 0199a1b2-...",
      description: "Then run signalbox runs list --context staging"
    }
  ])
)

const list = Command.make(
  "list",
  { json: connectionFlags.json },
  Effect.fnUntraced(function* ({ json }) {
    const all = Object.entries(yield* Contexts.read).map(([context, { base_url, workspace_id }]) => ({
      context,
      base_url,
      workspace_id
    }))
    if (json) return yield* Effect.forEach(all, (one) => Console.log(JSON.stringify(one)), { discard: true })
    yield* printTable(
      ["context", "address", "workspace"],
      all.map(({ base_url, context, workspace_id }) => [context, base_url, workspace_id]),
      "No contexts yet: create one with `signalbox login`"
    )
  })
).pipe(
  Command.withDescription("Lists the contexts, without keys"),
  Command.withExamples([{ command: "signalbox contexts list", description: "List the names for --context" }])
)

const remove = Command.make(
  "delete",
  { context: contextArgument, json: connectionFlags.json },
  Effect.fnUntraced(function* ({ context, json }) {
    yield* Contexts.remove(context)
    yield* print(json, { context, deleted: true }, () => `Deleted the context ${context}; its key stays valid`)
  })
).pipe(
  Command.withDescription("Deletes a context. The key stays valid until `signalbox keys revoke`"),
  Command.withExamples([
    {
      command: "signalbox contexts delete staging",
      description: "Delete the saved connection; the control room does not change"
    }
  ])
)

export const contexts = Command.make("contexts").pipe(
  Command.withDescription("Lists and deletes the connections saved by `signalbox login`"),
  Command.withSubcommands([list, remove])
)

/** How shells set a variable; values are quoted so that nothing in them is run. */
const shells = {
  sh: (name: string, value: string) => `export ${name}=${quoted(value)}`,
  fish: (name: string, value: string) => `set -gx ${name} '${value.replaceAll(/['\\]/g, "\\$&")}'`,
  powershell: (name: string, value: string) => `$env:${name} = '${value.replaceAll("'", "''")}'`
} as const

export const env = Command.make(
  "env",
  {
    shell: Flag.Literals("shell", ["sh", "fish", "powershell"]).pipe(
      Flag.withDescription("The syntax of the shell; sh is also for bash and zsh"),
      Flag.withDefault("sh")
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, shell }) {
    const { baseUrl, transport, workspaceId } = yield* connected(data)(ControlRoom)
    const variables = {
      SIGNALBOX_BASE_URL: baseUrl,
      SIGNALBOX_API_KEY: (transport.headers["authorization"] ?? "").replace(/^RC-WSKEY /, ""),
      SIGNALBOX_WORKSPACE_ID: workspaceId
    }
    const lines = Object.entries(variables).map(([name, value]) => shells[shell](name, value))
    yield* print(json, variables, () => lines.join("\n"))
  })
).pipe(
  Command.withDescription("Prints the current connection, with the key, as variables for a shell"),
  Command.withExamples([
    { command: 'eval "$(signalbox env)"', description: "Connect programs of this shell like the command" },
    { command: "signalbox env --context staging --shell fish | source", description: "Connect with a context, in fish" }
  ])
)

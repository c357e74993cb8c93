/**
 * Every example in the documentation compiles, as a user of the packages would write it, and can be read in full.
 */
import { assert, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { compileAll, taggedOf } from "@signalbox/testkit/Examples"
import * as Effect from "effect/Effect"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..", "..", "..")

interface Documented {
  /** The folder in which the examples are compiled; its package determines what they can import. */
  readonly within: string
  readonly files: ReadonlyArray<string>
  readonly atLeast: number
  /** What the lines of `@example` tags use; with it these are compiled. */
  readonly preamble?: string
}

/** The parameters of the functions of a client, by the names that they have there. */
const texts = (...names: ReadonlyArray<string>) => names.map((name) => `declare const ${name}: string`)

const ofApi = [
  'import { openAsBlob } from "node:fs"',
  'import type { Process } from "@signalbox/api/Process"',
  'import type { Client } from "@signalbox/api/promise"',
  'import * as WorkItems from "@signalbox/api/WorkItems"',
  'import * as Effect from "effect/Effect"',
  'import * as Schema from "effect/Schema"',
  "declare const room: Client",
  "declare const invoices: Process",
  "declare const file: { write: (bytes: Uint8Array) => void }",
  "const schema = Schema.Struct({ total: Schema.Finite })",
  ...texts(
    "alert",
    "asset",
    "assistant",
    "channel",
    "failure",
    "group",
    "item",
    "key",
    "operation",
    "process",
    "run",
    "schedule"
  ),
  ...texts("stepRun", "taskPackage", "token", "trigger", "upload", "user", "webhook", "worker")
].join("\n")

const ofGraph = [
  'import type { UploadState } from "@signalbox/graph/Uploads"',
  'import * as Users from "@signalbox/graph/Users"',
  'import type { Notification } from "@signalbox/graph/Notifications"',
  'import type { NewSubscription } from "@signalbox/graph/Subscriptions"',
  'import type { AttachmentRef, DriveRef, GraphClient, ItemRef } from "@signalbox/graph/promise"',
  'import type { MailboxRef, MessageRef, SubscriptionRef, Workbook } from "@signalbox/graph/promise"',
  'import { driveResource, filesIn, me, messagesIn, path, root } from "@signalbox/graph/promise"',
  "declare const graph: GraphClient",
  "declare const drive: DriveRef",
  "declare const item: ItemRef",
  "declare const state: UploadState",
  "declare const [mailbox, message, draft]: [MailboxRef, MessageRef, MessageRef]",
  "declare const attachment: AttachmentRef",
  "declare const subscription: SubscriptionRef",
  "declare const workbook: Workbook",
  "declare const given: NewSubscription",
  "declare const notifications: AsyncIterable<Notification>",
  ...texts("folder", "id", "list", "permission", "secret", "site", "user")
].join("\n")

const documented: ReadonlyArray<Documented> = [
  {
    within: "packages/graph/test",
    files: ["packages/graph/src/{Promise,internal/promise/*}.ts"],
    preamble: ofGraph,
    atLeast: 45
  },
  { within: "packages/api/test", files: ["packages/api/src/internal/promise/*.ts"], preamble: ofApi, atLeast: 120 },
  { within: "packages/api/test", files: ["docs/errors-and-retries.md", "packages/api/src/**/*.ts"], atLeast: 11 },
  // The example of the lint rules is the configuration of a linter.
  { within: "packages/flows/test", files: ["packages/flows/src/!(LintRules).ts"], atLeast: 11 },
  {
    within: "packages/schedule/test",
    files: ["packages/schedule/README.md", "packages/schedule/src/*.ts"],
    atLeast: 18
  },
  {
    within: "packages/console/test",
    files: ["packages/console/README.md", "packages/console/src/Files.ts"],
    atLeast: 2
  },
  { within: "packages/graph/test", files: ["packages/graph/README.md", "packages/graph/src/**/*.ts"], atLeast: 11 },
  {
    within: "packages/control-room/test",
    files: ["packages/control-room/README.md", "packages/control-room/src/*.ts"],
    atLeast: 7
  },
  {
    within: "packages/task-package/test",
    files: ["packages/task-package/README.md", "packages/task-package/src/*.ts"],
    atLeast: 9
  },
  { within: "packages/sql/test", files: ["packages/sql/README.md", "packages/sql/src/*.ts"], atLeast: 3 },
  {
    within: "packages/transport/test",
    files: ["packages/transport/README.md", "packages/transport/src/*.ts"],
    atLeast: 3
  },
  { within: "packages/signalbox/test", files: ["packages/signalbox/src/{Mounted,Embedded,Vitest}.ts"], atLeast: 6 },
  { within: "examples/test", files: ["docs/graph.md", "packages/flows/src/graph/GraphSteps.ts"], atLeast: 6 },
  { within: "examples/test", files: ["packages/{api,flows,graph,signalbox,worker}/AGENTS.md"], atLeast: 5 },
  {
    within: "packages/control-room/test",
    files: ["packages/{control-room,schedule,task-package}/AGENTS.md"],
    atLeast: 3
  },
  {
    within: "packages/signalbox/test",
    files: ["docs/start/*.md", "docs/coming-from/*.md", "docs/operate/*.md"],
    atLeast: 4
  }
]

/** The site shows as many columns of an example. */
const width = 80

it("no line of an example in the sources is cut by the site", () => {
  // Those of pages are formatted to this width.
  const wide = globSync("packages/*/src/**/*.ts", { cwd: root }).flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8")
    const fenced = [...text.matchAll(/^ *\* ```ts\n(.*?)^ *\* ```/gms)].map(([, example = ""]) => example)
    return [...fenced, ...taggedOf(text)].flatMap((example) =>
      example
        .split("\n")
        .map((line) => line.replace(/^ *\* ?/, ""))
        .filter((line) => line.length > width)
        .map((line) => `${file}: ${line}`)
    )
  })
  // An address that has no shorter form.
  assert.deepStrictEqual(
    wide.filter((line) => !line.includes("https://")),
    []
  )
})

it.live("the examples in the documentation compile", () =>
  Effect.gen(function* () {
    const { examples, exitCode, output } = yield* compileAll(
      documented.map(({ files, preamble, within }) => ({
        preamble,
        files: files.flatMap((pattern) => globSync(join(root, pattern)).toSorted()),
        within: join(root, within)
      }))
    )
    assert.strictEqual(output, "")
    assert.strictEqual(exitCode, 0)
    for (const [n, { atLeast, within }] of documented.entries()) assert.isAtLeast(examples[n] ?? 0, atLeast, within)
  }).pipe(Effect.provide(NodeServices.layer))
)

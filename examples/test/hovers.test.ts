/**
 * What an editor shows of the functions that programs use most: plain names, not the schemas behind them.
 */
import { connect } from "@signalbox/api/promise"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { API } from "typescript/unstable/sync"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const shown: Readonly<Record<string, string>> = {
  "Processes.get": "(process: ProcessId) => Effect<Process, ControlRoomError | NotFound, ControlRoom>",
  "Processes.put":
    "(definition: ProcessDefinition) => Effect<Process, Conflict | ControlRoomError | InvalidRequest | NotFound, ControlRoom>",
  "Processes.list":
    "(options?: NamedListOptions | undefined) => Effect<Page<ProcessSummary>, ControlRoomError | InvalidRequest, ControlRoom>",
  "Processes.stream":
    '(options?: Omit<NamedListOptions, "cursor">) => Stream<ProcessSummary, ControlRoomError | InvalidRequest, ControlRoom>',
  "ProcessRuns.get": "(run: ProcessRunId) => Effect<ProcessRun, ControlRoomError | NotFound, ControlRoom>",
  "ProcessRuns.awaitEnd":
    "(run: ProcessRunId, options?: AwaitOptions<ProcessRun> | undefined) => Effect<ProcessRun, ControlRoomError | NotFound, ControlRoom>",
  "ProcessRuns.stop":
    "(run: ProcessRunId, options?: StopOptions | undefined) => Effect<Accepted, ControlRoomError | InvalidRequest | NotFound, ControlRoom>",
  "WorkItems.get": "Get",
  "WorkItems.list": "ListWorkItems",
  "WorkItems.stream": "StreamWorkItems",
  "WorkItems.create":
    "(input: NewWorkItem) => Effect<WorkItem, Conflict | ControlRoomError | InvalidRequest | NotFound, ControlRoom>",
  "WorkItems.createMany":
    "(input: NewWorkItems) => Effect<WorkItemId[], Conflict | ControlRoomError | InvalidRequest | NotFound | PartlyCreated, ControlRoom>",
  "ProcessRuns.start": "Start",
  "ProcessRuns.list": "List<PageFilter, ProcessRun, InvalidRequest>",
  "WorkItems.retry":
    "(items: readonly WorkItemId[]) => Effect<BatchResult, Conflict | ControlRoomError | InvalidRequest | NotFound, ControlRoom>",
  "Outputs.stream": "StreamOutputs",
  "Secrets.put":
    "(name: string, content: Content) => Effect<Secret, Conflict | ControlRoomError | InvalidRequest, ControlRoom>",
  "Webhooks.get": "(webhook: WebhookId) => Effect<Webhook, ControlRoomError | NotFound, ControlRoom>",
  "Webhooks.rotateSecret":
    "(webhook: WebhookId) => Effect<Webhook, ControlRoomError | InvalidRequest | NotFound, ControlRoom>",
  "StepRuns.consoleMessages":
    "(stepRun: StepRunId) => Stream<ConsoleMessage, ControlRoomError | InvalidRequest | NotFound, ControlRoom>",
  "Workspaces.get": "Effect<Workspace, ControlRoomError | NotFound, ControlRoom>",
  "Workers.get": "(worker: WorkerId) => Effect<Worker, ControlRoomError | NotFound, ControlRoom>",
  "TaskPackages.get": "(taskPackage: TaskPackageId) => Effect<TaskPackage, ControlRoomError | NotFound, ControlRoom>",
  "Assistants.get": "(assistant: AssistantId) => Effect<Assistant, ControlRoomError | NotFound, ControlRoom>",
  "Embedded.layer":
    "<T extends Task.Any = never>(options?: Options<T>) => Layer<ControlRoom | Embedded, StartError, Exclude<Services<T>, ControlRoom | HttpClient | NodeServices>>",
  "Testing.layer":
    "<T extends Task.Any = never>(options?: Options<T>) => Layer<ControlRoom | Testing, never, Services<T>>",
  "Testing.settle": "Effect<void, never, Testing>",
  "Worker.layer": "<T extends Task.Any>(options: Options<T>) => Layer<never, never, HttpClient | Services<T>>",
  "Flow.run":
    '<I extends Codec, S extends Codec, E extends Codec, R>(flow: Flow<I, S, E, R>, input: I["Type"], options?: { readonly verify?: boolean; }) => Effect<S["Type"], InvalidInput | E["Type"], R>'
}

/** Nothing is shortened; an object has a line for each member, as in an editor. */
const noTruncation = 1
const multiline = 1024

/** The functions of the client with promises: `workItems.create`. */
const promised = (() => {
  const room = connect({ baseUrl: "http://127.0.0.1:4700", apiKey: "key", workspaceId: "workspace" })
  const { close: _, run: _run, with: _with, withSignal: _withSignal, ...modules } = room
  const functions = Object.entries(modules).flatMap(([name, module]) =>
    Object.keys(module).map((member) => `${name}.${member}`)
  )
  return [...functions, "run", "with", "withSignal", "close"]
})()

const folder = mkdtempSync(join(import.meta.dirname, ".hovers-"))
const texts = new Map<string, string>()

beforeAll(() => {
  const names = Object.keys(shown)
  const modules = [...new Set(names.map((name) => name.split(".")[0]))]
  const lines = names.map((name, index) => `export const shown${index} = ${name}`)
  const ofPromises = promised.map((name, index) => `export const promised${index} = room.${name}`)
  const source = [
    `import { ${modules.join(", ")} } from "signalbox"`,
    'import type { Client } from "@signalbox/api/promise"',
    "declare const room: Client",
    ...lines,
    ...ofPromises
  ].join("\n")
  const file = join(folder, "shown.ts")
  writeFileSync(file, source)
  const config = join(folder, "tsconfig.json")
  const compilerOptions = { noEmit: true, composite: false, declarationMap: false, sourceMap: false }
  writeFileSync(config, JSON.stringify({ extends: "../../../tsconfig.base.json", compilerOptions, include: ["*.ts"] }))
  const api = new API()
  const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
  if (project === undefined) throw new Error("the compiler has opened no project")
  const show = (variable: string, flags: number) => {
    const symbol = project.checker.getSymbolAtPosition(file, source.indexOf(`${variable} `))
    const type = symbol === undefined ? undefined : project.checker.getTypeOfSymbol(symbol)
    return type === undefined ? "" : project.checker.typeToString(type, undefined, flags)
  }
  for (const [index, name] of names.entries()) texts.set(name, show(`shown${index}`, noTruncation))
  for (const [index, name] of promised.entries()) {
    texts.set(`room.${name}`, show(`promised${index}`, noTruncation | multiline))
  }
  api.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("an editor shows", () => {
  for (const [name, text] of Object.entries(shown)) {
    it(name, () => assert.strictEqual(texts.get(name), text))
  }
})

/** A line of an editor has about a hundred characters. */
const linesOf = (text: string): number =>
  text.split("\n").reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / 100)), 0)

describe("an editor shows of the client with promises", () => {
  for (const name of promised) {
    it(`${name} in at most ten lines, with names of its parameters`, () => {
      const text = texts.get(`room.${name}`) ?? ""
      assert.match(text, /(?:=>|\):) (?:\w*Promise|AsyncIterable|Client)\b/)
      assert.notMatch(text, /args_\d/)
      assert.isAtMost(linesOf(text), 10, text)
    })
  }

  it("a work item, which is created", () => {
    assert.strictEqual(
      texts.get("room.workItems.create"),
      "(input: NewWorkItem, options?: CallOptions | undefined) => ApiPromise<WorkItem>"
    )
  })
})

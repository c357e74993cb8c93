/**
 * Robots and clients that exist, against a new control room with a real worker: packages with environments that cannot be
 * built, and the programs of the older interface that upload a robot, start it and look at what it did.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkItems from "@signalbox/api/WorkItems"
import { zipOf } from "@signalbox/testkit/PackageZips"
import { soak } from "@signalbox/testkit/Soak"
import * as Wheels from "@signalbox/testkit/Wheels"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import * as Embedded from "../../src/Embedded.ts"
import { temporaryFolder } from "../support/Cli.ts"
import * as Robots from "../support/Robots.ts"

const { folder, remove } = temporaryFolder("robots")
const environments = join(folder, "data", "workers", "environments")
const wheels = join(folder, "wheels")

/** The environments of which there is anything, ready or not. */
const built = () =>
  readdirSync(environments)
    .filter((name) => !name.startsWith("."))
    .flatMap((digest) => readdirSync(join(environments, digest)).filter((name) => /^\d+$/.test(name)))

const layer = Layer.unwrap(
  Effect.gen(function* () {
    yield* Effect.addFinalizer(() => Effect.sync(remove))
    const bin = join(folder, "bin")
    Wheels.python(bin)
    // What pip writes has at most 32 KB: a disk without room for more.
    const pip = Wheels.program(bin, "pip", `ulimit -f 64\nexec '${join(bin, "pip3")}' "$@"`)
    Wheels.write(wheels, "greeting", "1.0", { source: 'text = "hello from a wheel"\n' })
    Wheels.write(wheels, "large", "1.0", { size: 1_000_000 })
    const tools = { python: join(bin, "python3"), pip }
    return Embedded.layer({
      data: join(folder, "data"),
      port: 0,
      workers: 1,
      environments: { provider: "venv", wheels, tools }
    })
  })
).pipe(Layer.provideMerge(NodeServices.layer), Layer.provide(Logger.layer([])))

const robotYaml = "tasks:\n  Greet:\n    shell: python main.py\ncondaConfigFile: conda.yaml\n"
const main = "import greeting\nprint(greeting.text)\n"
const robot = (conda: string) => zipOf({ "robot.yaml": robotYaml, "conda.yaml": conda, "main.py": main })
/** It writes an artifact, and needs no environment. */
const plainRobot = zipOf({
  "robot.yaml": "tasks:\n  Greet:\n    shell: python main.py\n",
  "main.py": 'import os\nopen(os.path.join(os.environ["ROBOT_ARTIFACTS"], "greeting.txt"), "w").write("hello")\n'
})
const pip = (...lines: ReadonlyArray<string>) =>
  `dependencies:\n  - pip:\n${lines.map((one) => `    - ${one}\n`).join("")}`

const failuresOfTools = [
  ["because a hash differs", pip(`greeting==1.0 --hash=sha256:${"0".repeat(64)}`), /Expected sha256 0{64}/],
  ["because the disk has no room", pip("large==1.0"), /(ended with exit code|was ended by the signal)/],
  [
    "because its post-install fails",
    `${pip("greeting==1.0")}rccPostInstall: [sh -c "echo out of luck; exit 3"]\n`,
    /exit code 3\nout of luck$/
  ]
] as const

/** Uploads a robot, and runs it once to its failure. */
const failing = Effect.fnUntraced(function* (name: string, conda: string, says: RegExp) {
  const before = built()
  const id = yield* Robots.upload(name, yield* robot(conda))
  const process = yield* Robots.process(name, [{ name: "greet", task: { package_id: id, name: "Greet" } }])
  const run = yield* Robots.start(process)
  const { state } = yield* ProcessRuns.awaitEnd(run, { timeout: "1 minute" })
  assert.strictEqual(state, "unresolved")
  const [stepRun] = yield* Robots.stepRuns(run)
  assert.strictEqual(stepRun?.error?.code, "SETUP_FAILURE")
  assert.notInclude(stepRun?.events ?? [], "ENVIRONMENT")
  const [item, ...others] = (yield* WorkItems.list({ processRun: run })).data
  if (item === undefined || others.length > 0) return yield* Effect.die("expected one item")
  assert.strictEqual(item.state, "failed")
  assert.strictEqual(item.exception?.type, "application")
  assert.strictEqual(item.exception?.code, "SETUP_FAILURE")
  assert.match(item.exception?.message ?? "", says)
  assert.deepStrictEqual(built(), before)
  return { run, item }
})

interface FormLike {
  readonly fields: Readonly<Record<string, string>>
  readonly file: Uint8Array
}
const boundary = "of-a-test"
/** The fields first, then the file, which is a part without a file name. */
const multipart = ({ fields, file }: FormLike) =>
  Buffer.concat([
    ...Object.entries(fields).map(([name, value]) =>
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    ),
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"\r\ncontent-type: application/octet-stream\r\n\r\n`
    ),
    file,
    Buffer.from(`\r\n--${boundary}--\r\n`)
  ])

/** A request of a program that knows the address, the workspace and the key, and not this project. */
const request = Effect.fnUntraced(function* (
  method: string,
  path: string,
  { form, json, key = true }: { readonly json?: object; readonly form?: FormLike; readonly key?: boolean } = {}
) {
  const { credentials, origin } = yield* Embedded.Embedded
  const url = new URL(path.replace("WORKSPACE", credentials.workspace_id), origin)
  const headers = {
    ...(key ? { authorization: `RC-WSKEY ${credentials.api_key}` } : {}),
    ...(json === undefined ? {} : { "content-type": "application/json" }),
    ...(form === undefined ? {} : { "content-type": `multipart/form-data; boundary=${boundary}` })
  }
  const text = json === undefined ? null : JSON.stringify(json)
  const body = form === undefined ? text : multipart(form)
  const response = yield* Effect.promise(() => fetch(url, { method, headers, body }))
  const said = yield* Effect.promise(() => response.text())
  assert.isTrue(response.ok, `${method} ${url.href}: ${response.status} ${said}`)
  return said
})
const requestJson = (...given: Parameters<typeof request>) =>
  Effect.map(request(...given), (text) => Schema.decodeSync(Schema.fromJsonString(Schema.Json))(text))

const Form = Schema.Struct({ url: Schema.String, fields: Schema.Record(Schema.String, Schema.String) })
const Id = Schema.Struct({ id: Schema.String })
const Watched = Schema.Struct({ state: Schema.String, robotRuns: Schema.Array(Id) })
const Items = Schema.Struct({ data: Schema.Array(Schema.Struct({ state: Schema.String, payload: Schema.Json })) })

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a new control room with a worker", (it) => {
  const failures: ReadonlyArray<readonly [what: string, conda: string, says: RegExp]> = [
    ["because its file cannot be read", pip("./lib"), /^conda\.yaml:3: "\.\/lib" is a path/],
    ["because the machine has no such Python", "dependencies: [python=3.99]", /Python 3\.99 not found on PATH/],
    // The worker's own tests have these by each tool.
    ...(soak ? failuresOfTools : [])
  ]
  for (const [what, conda, says] of failures) {
    it.effect(`fails robots whose environment cannot be built ${what}: SETUP_FAILURE, and nothing is left behind`, () =>
      failing(what, conda, says)
    )
  }

  it.effect(
    "fails a robot with a version that nothing has, and builds it by the retry of its item once it is there",
    () =>
      Effect.gen(function* () {
        const noSuchVersion = /No matching distribution found for greeting==3\.0/
        const { item, run } = yield* failing("mended", pip("greeting==3.0"), noSuchVersion)
        Wheels.write(wheels, "greeting", "3.0", { source: 'text = "hello again"\n' })
        yield* WorkItems.retry([item.id])
        const ended = yield* ProcessRuns.awaitEnd(run, { timeout: "1 minute" })
        assert.strictEqual(ended.state, "completed")
        const stepRuns = yield* Robots.stepRuns(run)
        assert.include(stepRuns.at(-1)?.console ?? [], "hello again")
        assert.include(stepRuns.at(-1)?.events ?? [], "ENVIRONMENT")
      })
  )

  it.effect(
    "takes a robot of action-upload-robot, and runs it for action-trigger-process and RPA.Robocorp.Process",
    () =>
      Effect.gen(function* () {
        const { id: robotId } = yield* TaskPackages.create("uploaded")
        const link = yield* requestJson("GET", `/robot-v2/workspaces/WORKSPACE/robots/${robotId}/file/uploadlink`)
        const { fields, url } = Schema.decodeUnknownSync(Form)(link)
        yield* request("POST", url, { form: { fields, file: yield* plainRobot }, key: false })
        const id = yield* Robots.process("triggered", [{ name: "s", task: { package_id: robotId, name: "Greet" } }])

        const runs = `/process-v1/workspaces/WORKSPACE/processes/${id}/runs`
        const started = yield* requestJson("POST", runs, { json: { variables: { foo: "bar" } } })
        const run = Schema.decodeUnknownSync(Id)(started).id
        const watch = Effect.map(requestJson("GET", `${runs}/${run}`), Schema.decodeUnknownSync(Watched))
        const ended = yield* Effect.repeat(watch, {
          until: ({ state }) => !["INI", "IP"].includes(state),
          schedule: Schedule.spaced("100 millis")
        }).pipe(Effect.timeout("1 minute"))
        assert.strictEqual(ended.state, "COMPL")

        const stepRun = `${runs}/${run}/robotRuns/${ended.robotRuns[0]?.id}`
        const Artifacts = Schema.Array(Schema.Struct({ id: Schema.String, fileName: Schema.String }))
        const [artifact] = Schema.decodeUnknownSync(Artifacts)(yield* requestJson("GET", `${stepRun}/artifacts`))
        assert.strictEqual(artifact?.fileName, "greeting.txt")
        const address = yield* requestJson("GET", `${stepRun}/artifacts/${artifact?.id}/greeting.txt`)
        assert.strictEqual(yield* request("GET", String(address), { key: false }), "hello")
        const listed = yield* requestJson(
          "GET",
          `${runs}/${run}/work-items?includeData=true&sortBy=createTs&sortOrder=desc`
        )
        assert.deepStrictEqual(Schema.decodeUnknownSync(Items)(listed).data, [
          { state: "COMPLETED", payload: { variables: { foo: "bar" } } }
        ])
      })
  )
})

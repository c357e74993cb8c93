/** Limits of tasks: what prlimit and control groups are told, and how a task that exceeds one fails. */
import { assert, describe, it as plain, layer as withLayer } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Cgroup from "../src/internal/process/Cgroup.ts"
import { argumentsOf, exceeded, limited, saysOf } from "../src/internal/process/Exceeded.ts"
import * as Enforced from "../src/internal/process/Enforced.ts"
import * as MemoryGroup from "../src/internal/process/MemoryGroup.ts"
import * as Limits from "../src/Limits.ts"
import * as PackageWorker from "./support/PackageWorker.ts"
import { until } from "./support/PackageWorker.ts"

const limits = { cpuSeconds: 10, openFiles: 64, fileBytes: 2 * 1024 ** 2, memoryBytes: 1.5 * 1024 ** 3 }
const nothing = { outOfMemory: false, says: new Set<null>() }

describe("limits", () => {
  plain("are the arguments of prlimit, which leaves address space alone", () => {
    assert.deepStrictEqual(argumentsOf(limits), ["--cpu=10:15", "--nofile=64:64", "--fsize=2097152:2097152"])
    assert.deepStrictEqual(argumentsOf({ memoryBytes: 1 }), [])
    const enforced = { limits: { openFiles: 8 }, prlimit: "/usr/bin/prlimit", memory: false }
    assert.deepStrictEqual(limited(enforced, "/bin/x", ["--help"]), [
      "/usr/bin/prlimit",
      "--nofile=8:8",
      "--",
      "/bin/x",
      "--help"
    ])
    assert.deepStrictEqual(limited({ ...enforced, prlimit: null }, "/bin/x", ["a"]), ["/bin/x", "a"])
  })

  const cases: ReadonlyArray<readonly [string, Parameters<typeof exceeded>[1], string | null]> = [
    ["the kernel killed for memory", { ...nothing, signal: "SIGKILL", outOfMemory: true }, "memory, 1.5 GB"],
    ["the signal of CPU time", { ...nothing, signal: "SIGXCPU" }, "CPU time, 10 s"],
    ["that signal, as a shell reports it", { ...nothing, exitCode: 152 }, "CPU time, 10 s"],
    ["the signal of a file's size", { ...nothing, signal: "SIGXFSZ" }, "the size of a file, 2 MB"],
    ["a file too large, in words", { ...nothing, exitCode: 1, says: new Set(["file"]) }, "the size of a file, 2 MB"],
    ["too many open files, in words", { ...nothing, exitCode: 1, says: new Set(["files"]) }, "open files, 64"],
    ["another failure", { ...nothing, exitCode: 1 }, null],
    ["another signal", { ...nothing, signal: "SIGKILL" }, null]
  ]
  for (const [what, facts, limit] of cases) {
    plain(`are told from the end of the program: ${what}`, () => {
      assert.strictEqual(exceeded(limits, facts), limit)
      assert.isNull(exceeded({}, facts))
    })
  }

  plain("are recognised in what programs of several languages write", () => {
    assert.strictEqual(saysOf("OSError: [Errno 27] File too large: 'a'"), "file")
    assert.strictEqual(saysOf("OSError: [Errno 24] Too many open files"), "files")
    assert.strictEqual(saysOf("Error: EMFILE: too many open files, open 'x'"), "files")
    assert.isNull(saysOf("read 27 files"))
  })
})

const hasPrlimit = process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0
const layer = Layer.mergeAll(NodeServices.layer, NodeHttpClient.layerUndici, Logger.layer([]))

withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })("a task with limits", (it) => {
  const ended = Effect.fnUntraced(function* (main: string, limits: object) {
    const files = [
      { name: "robot.yaml", content: "tasks:\n  t:\n    shell: sh main.sh\n" },
      { name: "main.sh", content: main }
    ]
    const { script } = yield* PackageWorker.begin(files, { limits })
    yield* until(() => script.finished.has("s1"))
    return { ...(script.finished.get("s1") ?? { code: null, message: "" }), console: script.console }
  })
  const runs = it.effect.skipIf(!hasPrlimit)

  runs("fails with the limit of CPU time", () =>
    Effect.gen(function* () {
      const { code, console, message } = yield* ended("while :; do :; done", { cpuSeconds: 1 })
      assert.strictEqual(code, "ROBOT_FAILURE")
      assert.match(message, /^the task exceeded its limit of CPU time, 1 s, and was ended by the signal SIGXCPU$/)
      assert.include(console, `${code}: ${message}`)
    })
  )

  runs("fails with the limit of the size of a file", () =>
    Effect.gen(function* () {
      const { code, message } = yield* ended("exec head -c 100000 /dev/zero > big", { fileBytes: 65_536 })
      assert.strictEqual(code, "ROBOT_FAILURE")
      assert.match(message, /exceeded its limit of the size of a file, 64 kB/)
    })
  )

  runs("fails with the limit of open files", () =>
    Effect.gen(function* () {
      const open = `exec python3 -c "f = [open('main.sh') for _ in range(100)]"`
      const { code, message } = yield* ended(open, { openFiles: 40 })
      assert.strictEqual(code, "ROBOT_FAILURE")
      assert.match(message, /exceeded its limit of open files, 40, and ended with exit code 1/)
    })
  )

  runs("completes within them", () =>
    Effect.gen(function* () {
      const all = { cpuSeconds: 7, openFiles: 50, fileBytes: 512 * 1024 }
      const { code, console } = yield* ended("ulimit -t; ulimit -n; ulimit -f; ulimit -v", all)
      assert.isNull(code)
      assert.deepStrictEqual(console, ["7", "50", "1024", "unlimited"])
    })
  )

  runs("says as ever that its program does not exist", () =>
    Effect.gen(function* () {
      const files = [{ name: "robot.yaml", content: "tasks:\n  t:\n    shell: no-such-program\n" }]
      const { script } = yield* PackageWorker.begin(files, { limits: { cpuSeconds: 9 } })
      yield* until(() => script.finished.has("s1"))
      assert.match(
        script.finished.get("s1")?.message ?? "",
        /cannot start "no-such-program": the program does not exist/
      )
    })
  )
})

withLayer(NodeServices.layer, { excludeTestServices: true })("limits that the machine cannot enforce", (it) => {
  it.effect("are logged once, with the reason, and nothing is limited", () =>
    Effect.gen(function* () {
      const path = process.env["PATH"]
      yield* Effect.acquireRelease(
        Effect.sync(() => (process.env["PATH"] = "/nonexistent")),
        () => Effect.sync(() => (process.env["PATH"] = path))
      )
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => void logged.push(String(message)))
      const prepare = (limits: object) => Effect.provide(Enforced.prepare(limits), Logger.layer([logger]))
      assert.deepStrictEqual(yield* prepare({}), Enforced.none)
      assert.deepStrictEqual(logged, [])
      assert.isNull((yield* prepare({ openFiles: 5, cpuSeconds: 5 })).prlimit)
      const says = "the limits of CPU time, open files and file size are not enforced on this machine"
      assert.deepStrictEqual(logged, [says])
      assert.match((yield* Limits.inspect).processes ?? "", /prlimit .* not found on PATH/)
    })
  )
})

withLayer(NodeServices.layer, { excludeTestServices: true })("the memory of tasks", (it) => {
  /** A folder with the files of a control group. */
  const group = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
    const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    mkdirSync(join(folder, Cgroup.ownName))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    return folder
  })
  const files = { "cgroup.controllers": "cpu memory pids\n", "cgroup.subtree_control": "", "cgroup.procs": "" }

  it.effect("can be limited where the controller is handed down", () =>
    Effect.gen(function* () {
      const folder = yield* group({ ...files, "cgroup.subtree_control": "cpu memory\n", "cgroup.procs": "" })
      assert.isNull(yield* MemoryGroup.prepareIn(folder))
      assert.strictEqual(readFileSync(join(folder, "cgroup.subtree_control"), "utf8"), "cpu memory\n")
    })
  )

  it.effect("can be limited by a worker that is alone in its group, which moves below it", () =>
    Effect.gen(function* () {
      const folder = yield* group({ ...files, "cgroup.procs": `${process.pid}\n` })
      assert.isNull(yield* MemoryGroup.inspectIn(folder))
      assert.strictEqual(readFileSync(join(folder, "cgroup.subtree_control"), "utf8"), "")
      assert.isNull(yield* MemoryGroup.prepareIn(folder))
      assert.strictEqual(readFileSync(join(folder, Cgroup.ownName, "cgroup.procs"), "utf8"), String(process.pid))
      assert.strictEqual(readFileSync(join(folder, "cgroup.subtree_control"), "utf8"), "+memory")
    })
  )

  it.effect("cannot be limited beside foreign processes, without the controller, or without control groups", () =>
    Effect.gen(function* () {
      const other = spawn("sleep", ["60"])
      yield* Effect.addFinalizer(() => Effect.sync(() => other.kill()))
      const shared = yield* group({ ...files, "cgroup.procs": `${process.pid}\n${other.pid}\n` })
      assert.match((yield* MemoryGroup.prepareIn(shared)) ?? "", /other processes are in .*Delegate=yes/)
      assert.strictEqual(readFileSync(join(shared, "cgroup.subtree_control"), "utf8"), "")
      const without = yield* group({ ...files, "cgroup.controllers": "pids\n" })
      assert.match((yield* MemoryGroup.prepareIn(without)) ?? "", /no memory controller/)
      assert.match((yield* MemoryGroup.prepareIn("/nonexistent")) ?? "", /may not change its control group/)
    })
  )

  it.effect("is limited without swap, for the task as a whole, and the kernel's kill is found", () =>
    Effect.gen(function* () {
      const folder = yield* group({ "memory.events": "oom 1\noom_kill 0\noom_group_kill 0\n" })
      yield* Cgroup.limitMemory(folder, 1024)
      const written = ["memory.max", "memory.swap.max", "memory.oom.group"]
      assert.deepStrictEqual(
        written.map((name) => readFileSync(join(folder, name), "utf8")),
        ["1024", "0", "1"]
      )
      assert.isFalse(yield* Cgroup.outOfMemoryIn(folder))
      writeFileSync(join(folder, "memory.events"), "oom 1\noom_kill 2\n")
      assert.isTrue(yield* Cgroup.outOfMemoryIn(folder))
    })
  )
})

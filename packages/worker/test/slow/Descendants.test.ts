/** No process of a task outlives its step run, whatever it did to detach itself; with control groups and without. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Command } from "@signalbox/task-package/RobotYaml"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import * as Cgroup from "../../src/internal/process/Cgroup.ts"
import * as Descendants from "../../src/internal/process/Descendants.ts"
import * as Orphans from "../../src/internal/process/Orphans.ts"
import * as RunFolders from "../../src/internal/process/RunFolders.ts"
import { begin, isAlive, until } from "../support/PackageWorker.ts"

const robotYaml = "tasks: { t: { shell: python3 main.py } }\n"

const kinds = ["session", "group", "daemon", "kept"]
/** Only a control group ends it reliably: it changes its process number faster than it can be inspected. */
const elusive = "forks"
/** Like the one before, once its parent has ended: it has no environment, and a separate session. */
const bare = "bare"

/** Starts descendants of the kinds in `KINDS`, which each write their number to a file, and ends as `END` says. */
const main = `import os, subprocess, sys, time

PIDS, KINDS = os.environ["PIDS"], os.environ["KINDS"].split(",")
WAIT = ["sh", "-c", 'cd "$0"; : > "$1.$$"; exec sleep 600', PIDS]


def daemon(command):
    # Forked twice, without any open file, its parent gone.
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 1000)
            os.execvp(command[0], command)
        os._exit(0)


def forks(command):
    # Goes on as its own child all the time, for some seconds.
    if os.fork() == 0:
        os.setsid()
        os.chdir(PIDS)
        for _ in range(1000):
            open(os.path.join(PIDS, "forks." + str(os.getpid())), "w")
            if os.fork() > 0:
                os._exit(0)
            time.sleep(0.01)
        os._exit(0)


START = {
    "forks": forks,
    # These hold on to the output of the task.
    "session": lambda command: subprocess.Popen(command, start_new_session=True),
    "group": lambda command: subprocess.Popen(command, preexec_fn=os.setpgrp),
    "bare": lambda command: subprocess.Popen(command, env={"PATH": os.environ["PATH"]}, start_new_session=True),
    "daemon": daemon,
    # Starts another one whenever one was killed.
    "kept": lambda command: subprocess.Popen(["sh", "-c", 'while :; do setsid "$@"; done', *command[:1], *command], start_new_session=True),
}
for kind in KINDS:
    START[kind](WAIT + [kind])
while set(KINDS) - {name.split(".")[0] for name in os.listdir(PIDS)}:
    time.sleep(0.01)
print("all are there", flush=True)
END = os.environ["END"]
if END == "wait":
    time.sleep(600)
sys.exit(int(END))
`

const files = [
  { name: "robot.yaml", content: robotYaml },
  { name: "main.py", content: main }
]

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

/** Whether a process works in this folder; null: the system does not say. */
const isIn = (folder: string, pid: number) => {
  if (!existsSync("/proc/self")) return null
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder
  } catch {
    return false
  }
}

/**
 * The processes that a task has started, and theirs, that still run, as `<kind>.<number>`. They work in this folder: other processes get
 * the numbers of those that have ended.
 */
const runningOf = (folder: string) =>
  readdirSync(folder).filter((name) => {
    const pid = Number(name.split(".")[1])
    return isAlive(pid) && isIn(folder, pid) !== false
  })

/** The existing control groups of these runs. */
const groupsOf = Effect.fnUntraced(function* (runs: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = readdirSync(runs).map((name) => join(runs, name, "cgroup"))
  const found = yield* Effect.forEach(paths, (path) => Effect.option(fs.readFileString(path)))
  return found.flatMap((group) => (group._tag === "Some" && existsSync(group.value) ? [group.value] : []))
})

/** Whether the machine, as the layer has it, lets a control group be made. */
const hasGroups = Effect.gen(function* () {
  const run = yield* temporary
  yield* Cgroup.make(run)
  const groups = yield* groupsOf(dirname(run))
  yield* Cgroup.kill(run)
  return groups.some((group) => basename(group) === `signalbox-${basename(run)}`)
})

const services = Layer.mergeAll(NodeServices.layer, NodeHttpClient.layerUndici, Logger.layer([]))
/** As on a machine that has no control groups. */
const withoutGroups = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(FileSystem.FileSystem, (fs) => ({
    ...fs,
    readFileString: (path: string, encoding?: string) =>
      fs.readFileString(path === "/proc/self/cgroup" ? "/nowhere" : path, encoding)
  }))
)

for (const [where, layer] of [
  ["with control groups, where the machine has them", services],
  ["without control groups", Layer.provideMerge(withoutGroups, services)]
] as const) {
  withLayer(layer, { excludeTestServices: true })(`a step run ${where}`, (it) => {
    const started = Effect.fnUntraced(function* (end: string) {
      const pids = yield* temporary
      const grouped = yield* hasGroups
      const all = [...kinds, ...(grouped ? [elusive] : []), ...(grouped || end === "wait" ? [bare] : [])]
      const run = yield* begin(files, { env: { PIDS: pids, END: end, KINDS: all.join(",") } })
      yield* until(() => run.script.console.includes("all are there"))
      return { ...run, pids }
    })

    for (const [how, code] of [
      ["0", undefined],
      ["3", "ROBOT_FAILURE"]
    ] as const) {
      it.effect(`that ends with exit code ${how} leaves nothing running`, () =>
        Effect.gen(function* () {
          const { pids, runs, script } = yield* started(how)
          yield* until(() => script.finished.has("s1"))
          assert.strictEqual(script.finished.get("s1")?.code, code)
          assert.deepStrictEqual(runningOf(pids), [])
          yield* until(() => readdirSync(runs).length === 0)
        })
      )
    }

    it.effect("that is terminated leaves nothing running", () =>
      Effect.gen(function* () {
        const { pids, runs, script, stop } = yield* started("wait")
        const groups = yield* groupsOf(runs)
        yield* stop
        yield* until(() => script.finished.has("s1"))
        assert.strictEqual(script.finished.get("s1")?.code, "TERMINATED")
        assert.deepStrictEqual(runningOf(pids), [])
        assert.deepStrictEqual(groups.filter(existsSync), [])
      })
    )

    it.effect("whose worker ends leaves nothing running", () =>
      Effect.gen(function* () {
        const { fiber, pids } = yield* started("wait")
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(runningOf(pids), [])
      })
    )

    it.effect(
      "whose worker was killed is ended by the next start of the worker, whether its first process runs or not",
      () =>
        Effect.gen(function* () {
          for (const first of ["there", "gone"]) {
            const folder = yield* temporary
            const runs = join(folder, "runs")
            const run = join(runs, "run-x")
            const pids = join(folder, "pids")
            mkdirSync(run, { recursive: true })
            mkdirSync(pids)
            writeFileSync(join(run, "main.py"), main)
            yield* Cgroup.make(run)
            const all = (yield* groupsOf(runs)).length > 0 ? [...kinds, elusive, bare] : kinds
            const own = { PIDS: pids, END: "wait", KINDS: all.join(","), [Descendants.variable]: run }
            const env = { PATH: process.env["PATH"] ?? "", ...own }
            const stdio = ["ignore", "pipe", "ignore"] as const
            const command: Command = ["python3", join(run, "main.py")]
            const [program, ...args] = (yield* Cgroup.joining(run, command, env)) ?? command
            const child = spawn(program, args, { detached: true, stdio: [...stdio], env })
            yield* Orphans.write(join(run, "process.json"), child.pid ?? 0)
            yield* Effect.callback<void>((resume) => {
              child.stdout?.once("data", () => resume(Effect.void))
            })
            // The forking process may be between two of itself.
            const seen = new Set(runningOf(pids).map((name) => name.split(".")[0]))
            const missing = all.filter((kind) => kind !== elusive && !seen.has(kind))
            assert.deepStrictEqual(missing, [])
            if (first === "gone") child.kill("SIGKILL")
            yield* RunFolders.clearLeftovers(join(folder, "runs"))
            // A killed process leaves its group before the system says that it has ended.
            yield* until(() => runningOf(pids).length === 0 && !isAlive(child.pid ?? 0))
            assert.deepStrictEqual(readdirSync(join(folder, "runs")), [])
          }
        })
    )
  })
}

/** As on a busy machine, where a worker does nothing for a while after it has started a program. */
const late = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(FileSystem.FileSystem, (fs): FileSystem.FileSystem => ({
    ...fs,
    writeFileString: (path, ...rest) =>
      Effect.andThen(
        Effect.sleep(basename(path) === "cgroup.procs" ? "1 second" : 0),
        fs.writeFileString(path, ...rest)
      )
  }))
)

withLayer(Layer.provideMerge(late, services), { excludeTestServices: true })("a program", (it) => {
  it.effect("is in its control group from its start, where the machine has them", () =>
    Effect.gen(function* () {
      const grouped = yield* hasGroups
      const files = [{ name: "robot.yaml", content: "tasks: { t: { shell: cat /proc/self/cgroup } }\n" }]
      const { script } = yield* begin(files)
      yield* until(() => script.finished.has("s1"))
      assert.strictEqual(/^0::.*\/signalbox-/m.test(script.console.join("\n")), grouped)
    })
  )
})

withLayer(services, { excludeTestServices: true })("the next start of a worker", (it) => {
  it.effect("kills no control group but that of the run, whatever the task wrote", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const run = join(folder, "runs", "run-y")
      mkdirSync(run, { recursive: true })
      writeFileSync(join(folder, "cgroup.kill"), "0")
      writeFileSync(join(folder, "cgroup.events"), "populated 0")
      writeFileSync(join(run, "cgroup"), folder)
      yield* RunFolders.clearLeftovers(join(folder, "runs"))
      assert.strictEqual(readFileSync(join(folder, "cgroup.kill"), "utf8"), "0")
    })
  )
})

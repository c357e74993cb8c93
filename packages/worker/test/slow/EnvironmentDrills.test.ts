/**
 * Environments when several want the same one, when their builder is killed, and when there is no room.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { sized } from "@signalbox/testkit/Soak"
import * as Wheels from "@signalbox/testkit/Wheels"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Machine from "../support/Machine.ts"
import { until } from "../support/PackageWorker.ts"

const { console: lines, recipe, run } = Machine
const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
/** At random moments of a build; another `SIGNALBOX_KILL_SEED` gives others. */
const kills = sized(1, 10)
const seed = process.env["SIGNALBOX_KILL_SEED"] ?? crypto.randomUUID()
/** Each a part of the time that a build takes. */
const moments = Effect.forEach(Array.from({ length: kills }), () => Random.next).pipe(Random.withSeed(seed))
const program = join(import.meta.dirname, "..", "support", "acquire.ts")

/** A worker in a process of its own, and what it has said once it has ended. */
const worker = (root: string) => {
  const child: ChildProcess = spawn(process.execPath, [program, root])
  let said = ""
  child.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()))
  const ended = new Promise<string>((done) => child.once("close", () => done(said.trim())))
  return { child, ended: Effect.promise(() => ended) }
}

withLayer(NodeServices.layer, { excludeTestServices: true })("an environment", (it) => {
  const machineWith = (before = "") => Effect.map(temporary, (root) => Machine.make(root, before))

  it.effect("is built once by two workers that want it at the same moment", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith("sleep 1")
      const workers = [worker(machine.root), worker(machine.root)]
      const said = yield* Effect.forEach(workers, ({ ended }) => ended, { concurrency: 2 })
      const folders = said.map((line) => line.split(" "))
      assert.deepStrictEqual(folders.map(([, cached]) => cached).toSorted(), ["false", "true"])
      assert.strictEqual(folders[0]?.[2], folders[1]?.[2])
      assert.lengthOf(machine.installs(), 1)
    })
  )

  it.effect("is built once by two step runs of one worker, and the second says that it waits", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith("sleep 1")
      const { acquire } = yield* machine.environments({ wheels: machine.wheels })
      const said = lines()
      const one = () => acquire(recipe(["greeting"]), said.write, Effect.void)
      const both = yield* Effect.forEach([1, 2], one, { concurrency: 2 })
      assert.strictEqual(both[0]?.folder, both[1]?.folder)
      assert.lengthOf(machine.installs(), 1)
      assert.lengthOf(
        said.lines.filter((line) => line.includes("waiting for it")),
        1
      )
    })
  )

  it.effect("whose builder is killed at any moment is never taken for ready, and the next worker builds it", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith()
      const whole = worker(machine.root)
      const begin = Date.now()
      const first = yield* whole.ended
      const time = Date.now() - begin
      assert.match(first, /^ready false /)
      const fs = yield* FileSystem.FileSystem
      yield* Console.log(`builders are killed with SIGNALBOX_KILL_SEED=${seed}`)
      for (const part of yield* moments) {
        yield* fs.remove(machine.folder, { recursive: true })
        const { child, ended } = worker(machine.root)
        yield* Effect.sleep(time * part)
        child.kill("SIGKILL")
        yield* ended
        for (const path of machine.ready()) {
          assert.isTrue(existsSync(join(path, "env", "bin", "python")), path)
        }
        const { acquire } = yield* machine.environments({ wheels: machine.wheels, provider: "venv" })
        const scope = yield* Scope.make()
        const built = yield* Scope.provide(acquire(recipe(["polite==1.0"]), lines().write, Effect.void), scope)
        assert.strictEqual(run(built, "import polite; print(polite.text)"), "hello from a wheel")
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(machine.numbered(), machine.ready(), `killed after ${part} of a build, seed ${seed}`)
      }
    })
  )

  it.effect("that does not fit on the disk is a SETUP_FAILURE, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith("ulimit -f 64")
      Wheels.write(machine.wheels, "large", "1.0", { size: 1_000_000 })
      const { acquire } = yield* machine.environments({ wheels: machine.wheels })
      const error = yield* Effect.flip(acquire(recipe(["large"]), lines().write, Effect.void))
      assert.strictEqual(error.code, "SETUP_FAILURE")
      assert.match(error.message, /pip3? (ended with exit code|was ended by the signal)/)
      assert.deepStrictEqual(machine.numbered(), [])
    })
  )

  it.effect("whose build is stopped ends with all its processes, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith(`sleep 600`)
      const { acquire } = yield* machine.environments({ wheels: machine.wheels })
      const fiber = yield* Effect.forkScoped(acquire(recipe(["greeting"]), lines().write, Effect.void))
      yield* until(() => machine.installs().length > 0)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(machine.numbered(), [])
      assert.deepStrictEqual(machine.processes(), [])
    })
  )

  it.effect("that names no exact versions is built anew after a week, beside the old one while that is in use", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith()
      const { acquire } = yield* machine.environments({ wheels: machine.wheels })
      const user = yield* Scope.make()
      const old = yield* Scope.provide(acquire(recipe(["greeting"]), lines().write, Effect.void), user)
      const file = join(old.folder, "ready.json")
      const aged = JSON.parse(readFileSync(file, "utf8"))
      aged.built_at = new Date(Date.now() - 8 * 24 * 3600_000).toISOString()
      writeFileSync(file, JSON.stringify(aged))
      const anew = yield* acquire(recipe(["greeting"]), lines().write, Effect.void)
      assert.isFalse(anew.cached)
      assert.notStrictEqual(anew.folder, old.folder)
      assert.isTrue(existsSync(old.folder))
      yield* Scope.close(user, Exit.void)
      yield* acquire(recipe(["greeting"]), lines().write, Effect.void)
      assert.isFalse(existsSync(old.folder))
    })
  )

  it.effect("that cannot be built anew stays in use", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith()
      const { acquire } = yield* machine.environments({ wheels: machine.wheels })
      const old = yield* acquire(recipe(["greeting"]), lines().write, Effect.void)
      const file = join(old.folder, "ready.json")
      const aged = JSON.parse(readFileSync(file, "utf8"))
      writeFileSync(file, JSON.stringify({ ...aged, built_at: "2020-01-01T00:00:00.000Z" }))
      Wheels.program(machine.bin, "pip3", `[ "$1" = --version ] && echo "pip 24.2" && exit; echo no index; exit 1`)
      const said = lines()
      const again = yield* acquire(recipe(["greeting"]), said.write, Effect.void)
      assert.strictEqual(again.folder, old.folder)
      assert.match(said.lines.join("\n"), /a week old, and cannot be rebuilt: .*\nno index/)
    })
  )

  it.effect("makes room for others when it was not used for longest, and never while it is in use", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith()
      const { acquire } = yield* machine.environments({ wheels: machine.wheels }, 1)
      const user = yield* Scope.make()
      const used = yield* Scope.provide(acquire(recipe(["greeting==1.0"]), lines().write, Effect.void), user)
      const idle = yield* Effect.scoped(acquire(recipe(["greeting==2.0"]), lines().write, Effect.void))
      const long = new Date(Date.now() - 3600_000)
      utimesSync(join(used.folder, "ready.json"), long, long)
      yield* Effect.scoped(acquire(recipe(["polite==1.0"]), lines().write, Effect.void))
      assert.isTrue(existsSync(used.folder))
      assert.isFalse(existsSync(idle.folder))
      yield* Scope.close(user, Exit.void)
      yield* Effect.scoped(acquire(recipe([]), lines().write, Effect.void))
      assert.isFalse(existsSync(used.folder))
    })
  )
})

withLayer(NodeServices.layer)("the build of an environment, in virtual time", (it) => {
  it.effect(
    "may take 15 minutes; then it is a SETUP_FAILURE, ends with all its processes and leaves nothing behind",
    () =>
      Effect.gen(function* () {
        const machine = Machine.make(yield* temporary, "echo still at it; sleep 600")
        const { acquire } = yield* TestClock.withLive(machine.environments({ wheels: machine.wheels }))
        const said = lines()
        const fiber = yield* Effect.forkScoped(Effect.flip(acquire(recipe(["greeting"]), said.write, Effect.void)))
        // Written, it may still be in the pipe; the time advances once it was read.
        yield* TestClock.withLive(until(() => said.lines.includes("still at it")))
        yield* TestClock.adjust("14 minutes")
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust("1 minute")
        const error = yield* TestClock.withLive(Effect.timeout(Fiber.join(fiber), "30 seconds"))
        assert.strictEqual(error.code, "SETUP_FAILURE")
        assert.match(
          error.message,
          /^the environment of conda\.yaml cannot be built: the build exceeded 15 minutes\nstill at it$/
        )
        assert.deepStrictEqual(machine.numbered(), [])
        assert.deepStrictEqual(machine.processes(), [])
      })
  )
})

/** Robots that come as a zip: made into processes, run by real workers, and taken back. Part of the journeys, whose room it shares. */
import { assert } from "@effect/vitest"
import type { ProcessId, ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Schedules from "@signalbox/api/Schedules"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import { zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { hands } from "./Hands.ts"
import { Room } from "./Room.ts"
import { type Operators, person, settled, signedIn } from "./Sight.ts"

/** A robot that says one thing. */
const saying = (text: string) => zipOf({ "robot.yaml": `tasks:\n  Say it:\n    shell: echo ${text}\n` })

/** What the robot of a run wrote. */
const saidBy = Effect.fnUntraced(function* (run: ProcessRunId) {
  yield* ProcessRuns.awaitEnd(run)
  const steps = yield* Stream.runCollect(StepRuns.stream(run))
  return yield* Stream.runCollect(
    Stream.fromIterable(steps).pipe(
      Stream.flatMap(({ id }) => StepRuns.consoleMessages(id)),
      Stream.map(({ message }) => message)
    )
  )
})

const runOf = Effect.fnUntraced(function* (process: ProcessId) {
  const run = yield* ProcessRuns.start(process, { payloads: [{}] })
  return run.started ? yield* saidBy(run.id) : assert.fail("the run did not start")
})

export const packages = (it: Operators) => {
  for (const by of ["mouse", "keyboard"] as const) {
    it.effect(`create a process from a zip, give it a schedule, and see its first run by ${by}`, () =>
      Effect.gen(function* () {
        const { api } = yield* Room
        const { page, reports } = yield* signedIn
        const { choose, fill, press } = hands(page, by)
        const name = `greets by ${by}`
        const buffer = Buffer.from(yield* saying(`greetings from ${by}`))
        const schedule = yield* person(async () => {
          await press(page.getByRole("link", { name: "Processes", exact: true }))
          await settled(page)
          await press(page.getByRole("link", { name: "New process" }))
          await page
            .getByLabel("Zip of a task package")
            .setInputFiles({ name: `${name}.zip`, mimeType: "application/zip", buffer })
          await press(page.getByRole("button", { name: "Upload package" }))
          await page.getByRole("group", { name: /Step 1/ }).waitFor()
          await press(page.getByRole("button", { name: "Create process" }))
          await page.getByRole("heading", { level: 1, name }).waitFor()
          await press(page.getByRole("link", { name: "New schedule" }))
          await fill(page.getByLabel("Name", { exact: true }), `${name}, often`)
          await choose(page.getByLabel("Recurrence"), "every")
          await fill(page.getByLabel("Interval", { exact: true }), "2 seconds")
          await press(page.getByRole("button", { name: "Create schedule" }))
          await page.getByRole("heading", { level: 1, name: `${name}, often` }).waitFor()
          return page.url().split("/").at(-1) ?? ""
        })
        yield* Effect.addFinalizer(() =>
          api(
            Schedules.stream().pipe(
              Stream.filter(({ id }) => id === schedule),
              Stream.runForEach(({ id }) => Schedules.remove(id))
            )
          )
        )
        yield* person(async () => {
          await press(page.getByRole("region", { name: "History" }).getByRole("link", { name: /^run/ }).last())
          await page.getByRole("heading", { level: 1, name }).waitFor()
          await page.locator("main header").getByText("completed").waitFor()
          await press(page.getByRole("link", { name: "Log", exact: true }))
          await page.getByRole("region", { name: "Log", exact: true }).getByText(`greetings from ${by}`).waitFor()
        })
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )

    it.effect(`roll a package back, so that robots run what they ran before by ${by}`, () =>
      Effect.gen(function* () {
        const { api } = yield* Room
        const name = `says by ${by}`
        const process = yield* api(
          Effect.gen(function* () {
            const { id } = yield* TaskPackages.create(name)
            for (const text of ["the old words", "the new words"]) {
              yield* TaskPackages.upload(id, { name: "robot.zip", bytes: yield* saying(text) })
            }
            return yield* Processes.put({
              name,
              steps: [{ name: "Say it", task: { name: "Say it", package_id: id } }]
            })
          })
        )
        assert.include((yield* api(runOf(process.id))).join(), "the new words")
        const { page, reports } = yield* signedIn
        const { press } = hands(page, by)
        yield* person(async () => {
          await press(page.getByRole("link", { name: "Packages", exact: true }))
          await press(page.getByRole("region", { name: "Task packages" }).getByRole("link", { name, exact: true }))
          await settled(page)
          const versions = page.getByRole("region", { name: "Versions" })
          await press(versions.getByRole("button", { name: /^Roll back.*to version 1$/ }))
          await press(page.getByRole("dialog").getByRole("button", { name: "Roll back to version 1" }))
          await versions.getByRole("row").filter({ hasText: "rolled back" }).waitFor()
          await versions.getByRole("row", { name: /^1 current/ }).waitFor()
        })
        assert.include((yield* api(runOf(process.id))).join(), "the old words")
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )
  }
}

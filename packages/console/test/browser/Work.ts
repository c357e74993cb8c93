/** Failures settled, runs started and processes paused. Part of the journeys, whose room it shares. */
import { assert } from "@effect/vitest"
import * as BulkOperations from "@signalbox/api/BulkOperations"
import * as Processes from "@signalbox/api/Processes"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { hands } from "./Hands.ts"
import { Room } from "./Room.ts"
import { type Operators, person, settled, show, signedIn } from "./Sight.ts"

declare const document: {
  querySelector(selector: "textarea"): { readonly value: string } | null
}

/** The most actions that settling a group may take somebody who has read nothing. */
const few = 5

export const work = (it: Operators) => {
  for (const by of ["mouse", "keyboard"] as const) {
    const message = by === "mouse" ? "login page did not answer" : "is unknown"

    it.effect(`retry a group of failures in ${few} actions or fewer by ${by}`, () =>
      Effect.gen(function* () {
        const { api } = yield* Room
        const { page, reports } = yield* signedIn
        const { press } = hands(page, by)
        const actions = yield* person(async () => {
          let actions = 0
          const act = (target: Parameters<typeof press>[0]) => press(target).then(() => actions++)
          await act(page.getByRole("link", { name: /^Failures/ }))
          const group = page.getByRole("row").filter({ hasText: message })
          await act(group.getByRole("button", { name: /^Retry/ }))
          await act(page.getByRole("dialog").getByRole("button", { name: /^Retry \d/ }))
          await page.getByRole("dialog").waitFor({ state: "detached" })
          return actions
        })
        assert.isAtMost(actions, few)
        const jobs = yield* api(Stream.runCollect(BulkOperations.stream()))
        assert.isAtLeast(jobs[0]?.total ?? 0, 1)
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )

    it.effect(`start a process with a file, and watch its log as it is written by ${by}`, () =>
      Effect.gen(function* () {
        const { api, dictate, ids } = yield* Room
        const { page, reports } = yield* signedIn
        const { fill, press } = hands(page, by)
        const run = yield* person(async () => {
          await press(page.getByRole("link", { name: "Processes", exact: true }))
          await press(
            page.getByRole("region", { name: "Processes" }).getByRole("link", { name: "Read statements", exact: true })
          )
          await settled(page)
          await press(page.locator("main header").getByRole("link", { name: "Start" }))
          await fill(page.getByLabel("Payload"), `{ "bank": "${by}" }`)
          await page
            .getByLabel("Add files")
            .setInputFiles({ name: "statement.csv", mimeType: "text/csv", buffer: Buffer.from("amount\n12\n") })
          await press(page.locator("main form").getByRole("button", { name: /^Start/ }))
          await page.waitForURL(/#\/runs\//)
          await press(page.getByRole("link", { name: "Log", exact: true }))
          return page.url().split("/").at(-1)?.split("?")[0]
        })
        const log = page.getByRole("region", { name: "Log", exact: true })
        for (const line of ["bank-1.example", "bank-2.example"]) {
          yield* dictate(`reads ${line}`)
          yield* person(() => log.getByText(`reads ${line}`).waitFor())
        }
        yield* dictate("")
        yield* person(() => page.locator("main header").getByText("completed").waitFor())
        const { data } = yield* api(WorkItems.list({ process: ids.read, includeData: true, limit: 20 }))
        const item = data.find(({ process_run }) => process_run?.id === run)
        assert.strictEqual(item?.files?.[0]?.name, "statement.csv")
        assert.deepStrictEqual(item?.payload, { bank: by })
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )

    it.effect(`edit a payload that somebody else changes meanwhile, and lose neither change by ${by}`, () =>
      Effect.gen(function* () {
        const { api, ids } = yield* Room
        const { page, reports } = yield* signedIn
        const { fill, press } = hands(page, by)
        const payloadOf = (amount: number) => ({ invoice: "RE-40000", customer: by, amount })
        const { id } = yield* api(WorkItems.create({ process: ids.match, payload: payloadOf(1) }))
        const payload = page.getByLabel("Payload")
        const save = page.locator("main header").getByRole("button", { name: "Save" })
        yield* person(async () => {
          await show(page, `#/items/${id}`)
          await fill(payload, JSON.stringify(payloadOf(2)))
        })
        yield* api(WorkItems.updatePayload(id, payloadOf(3)))
        yield* person(async () => {
          await press(save)
          await page.getByRole("alert").getByText("changed by someone else, and your changes were not saved").waitFor()
        })
        assert.deepStrictEqual((yield* api(WorkItems.get(id))).payload, payloadOf(3))
        yield* person(async () => {
          await press(page.getByRole("button", { name: "Discard changes" }))
          await page.getByRole("alert").waitFor({ state: "detached" })
          await page.waitForFunction(() => document.querySelector("textarea")?.value.includes('"amount": 3'))
          await fill(payload, JSON.stringify(payloadOf(4)))
          await press(save)
          await page.getByText("Payload saved.").waitFor()
        })
        assert.deepStrictEqual((yield* api(WorkItems.get(id))).payload, payloadOf(4))
        yield* api(WorkItems.remove([id]))
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )

    it.effect(`reveal a secret field, and change the rest of the payload without it by ${by}`, () =>
      Effect.gen(function* () {
        const { api } = yield* Room
        const { page, reports } = yield* signedIn
        const { fill, press } = hands(page, by)
        const name = `Pensions by ${by}`
        const process = yield* api(
          Processes.create({ name, steps: [{ name: "Pay", task: { name } }], sensitive: ["/ssn"] })
        )
        const { id } = yield* api(WorkItems.create({ process, payload: { ssn: "070180-9999", amount: 1 } }))
        const payload = page.getByLabel("Payload")
        const secret = page.getByText("070180-9999")
        yield* person(async () => {
          await show(page, `#/items/${id}`)
          await page.getByText("1 secret field hidden").waitFor()
          assert.strictEqual(await secret.count(), 0)
          await press(page.getByRole("button", { name: "Reveal secret fields" }))
          await secret.waitFor()
          await press(page.getByRole("button", { name: "Hide secret fields" }))
          await secret.waitFor({ state: "detached" })
          await fill(payload, '{ "ssn": null, "amount": 2 }')
          await press(page.locator("main header").getByRole("button", { name: "Save" }))
          await page.getByText("Payload saved.").waitFor()
        })
        assert.deepStrictEqual((yield* api(WorkItems.get(id))).payload, { ssn: "070180-9999", amount: 2 })
        yield* api(WorkItems.remove([id]))
        yield* api(Processes.remove(process.id))
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )

    it.effect(`fill in a process's form, and pause and resume it by ${by}`, () =>
      Effect.gen(function* () {
        const { api, ids } = yield* Room
        const { page, reports } = yield* signedIn
        const { fill, press } = hands(page, by)
        const run = yield* person(async () => {
          await press(page.getByRole("link", { name: "Processes", exact: true }))
          await press(
            page.getByRole("region", { name: "Processes" }).getByRole("link", { name: "Match invoices", exact: true })
          )
          await settled(page)
          await press(page.locator("main header").getByRole("link", { name: "Start" }))
          await fill(page.getByLabel("invoice", { exact: false }).first(), "RE-30000")
          await fill(page.getByLabel("customer", { exact: false }).first(), "70-30000")
          await fill(page.getByLabel("amount", { exact: false }).first(), "12")
          await press(page.locator("main form").getByRole("button", { name: /^Start/ }))
          await page.waitForURL(/#\/runs\//)
          return page.url().split("/").at(-1)?.split("?")[0]
        })
        const { data } = yield* api(WorkItems.list({ process: ids.match, includeData: true, limit: 20 }))
        const item = data.find(({ process_run }) => process_run?.id === run)
        assert.deepStrictEqual(item?.payload, { invoice: "RE-30000", customer: "70-30000", amount: 12 })

        yield* person(async () => {
          await press(page.getByRole("link", { name: "Processes", exact: true }))
          await press(
            page.getByRole("region", { name: "Processes" }).getByRole("link", { name: "Match invoices", exact: true })
          )
          await settled(page)
        })
        const pause = (note: string) =>
          person(async () => {
            await press(page.locator("main header").getByRole("button", { name: "Pause…" }))
            await fill(page.getByRole("dialog").getByLabel("Reason"), note)
            await press(page.getByRole("dialog").getByRole("button", { name: "Pause" }))
            await page.locator("main header").getByText("paused").waitFor()
          })
        yield* pause("a mistake")
        yield* person(async () => {
          await press(page.getByRole("status").getByRole("button", { name: "Undo" }))
          await page.locator("main header").getByText("paused").waitFor({ state: "detached" })
        })
        assert.isNull((yield* api(Processes.get(ids.match))).paused)
        yield* pause("month-end")
        assert.strictEqual((yield* api(Processes.get(ids.match))).paused?.note, "month-end")
        yield* person(async () => {
          await press(page.locator("main header").getByRole("button", { name: "Resume" }))
          await page.locator("main header").getByText("paused").waitFor({ state: "detached" })
        })
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )
  }
}

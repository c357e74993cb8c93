/** Times of schedules in words, and what an edited schedule sends. */
import { assert, describe, it } from "vitest"
import { cronInWords, timesInWords } from "../../src/page/screens/schedule/inWords.ts"
import { rulesOf, whenOf } from "../../src/page/screens/schedule/rules.ts"
import { draftOf, definitionOf, moved } from "../../src/page/screens/process/steps.ts"

/** A body as it arrives. */
const sent = (body: object): unknown => JSON.parse(JSON.stringify(body))

describe("cron expressions", () => {
  for (const [cron, words] of [
    ["0 6 * * MON-FRI", "on weekdays at 06:00"],
    ["30 18 * * *", "every day at 18:30"],
    ["5 8,16 * * sat,sun", "at weekends at 08:05 and 16:05"],
    ["0 7 * * 1,3", "on Monday and Wednesday at 07:00"],
    ["0 7 * * tue-thu", "on Tuesday to Thursday at 07:00"],
    ["0 0 1 * *", "on day 1 of each month at 00:00"],
    ["*/15 * * * *", "every 15 minutes"],
    ["20 * * * 1-5", "every hour at 20 minutes past on weekdays"]
  ] as const) {
    it(`${cron} is ${words}`, () => assert.strictEqual(cronInWords(cron), words))
  }

  for (const cron of ["0 18 1 */3 *", "0 0 13 * FRI", "*/10 8-17 * * *", "0 0 6 * * *", "often"]) {
    it(`${cron} is shown as it is`, () => {
      assert.isUndefined(cronInWords(cron))
      assert.strictEqual(timesInWords({ at: null, cron, every: null, zone: "UTC" }), `cron ${cron}, UTC`)
    })
  }
})

describe("an edited schedule", () => {
  const fresh = whenOf(undefined)
  it("comes at a time on days of the week", () => {
    const when = { ...fresh, kind: "days", time: "7:05", zone: "Europe/Vienna" } as const
    assert.deepStrictEqual(rulesOf(when), { cron: "5 7 * * MON-FRI", zone: "Europe/Vienna" })
    assert.deepStrictEqual(rulesOf({ ...when, days: ["SUN", "MON"] }).cron, "5 7 * * MON,SUN")
    assert.deepStrictEqual(rulesOf({ ...when, days: [] }).cron, "5 7 * * *")
  })

  it("sends the kind that is chosen, and nothing of the others", () => {
    assert.deepStrictEqual(rulesOf({ ...fresh, kind: "every", every: "2 hours", zone: "UTC" }), {
      every: "2 hours",
      zone: "UTC"
    })
    assert.deepStrictEqual(Object.keys(rulesOf({ ...fresh, kind: "at", at: "2026-12-24T08:00" })), ["at", "zone"])
  })
})

describe("a step that is edited", () => {
  it("keeps what the page does not show", () => {
    const step = {
      name: "Post",
      task: { name: "post", package_id: "p1" },
      task_package_version: 3,
      worker_group: { id: "g1" },
      worker: { labels: ["gpu"] },
      max_parallel: 4,
      retry: { max_attempts: 3, delay_seconds: 5 },
      timeout_seconds: 60,
      concurrency: { key: "/customer", limit: 2 },
      rate: { limit: 100, per: "hour" as const },
      env: { A: "b" },
      pause_after_failures: 9
    }
    assert.deepStrictEqual(sent(definitionOf(draftOf(step, 0))), step)
    // A version is of its package alone.
    assert.isUndefined(definitionOf({ ...draftOf(step, 0), packageId: "p2" }).task_package_version)
  })

  it("has the limits that are typed, and none where they are cleared", () => {
    const concurrency = { key: "/customer", limit: 2 }
    const draft = draftOf({ name: "Post", task: { name: "post" }, concurrency }, 0)
    const limits = { ...draft.limits, key: " ", rate: "100", per: "hour", rateKey: "/system" } as const
    assert.deepStrictEqual(sent(definitionOf({ ...draft, limits })), {
      name: "Post",
      task: { name: "post" },
      concurrency: { limit: 2 },
      rate: { key: "/system", limit: 100, per: "hour" }
    })
    assert.deepStrictEqual(sent(definitionOf({ ...draft, limits: { ...draft.limits, limit: "" } })), {
      name: "Post",
      task: { name: "post" }
    })
  })

  it("is named by its task where it has no name", () => {
    assert.deepStrictEqual(sent(definitionOf({ ...draftOf({}, 0), task: "post" })), {
      name: "post",
      task: { name: "post" }
    })
  })

  it("moves by one place, and not over the ends", () => {
    assert.deepStrictEqual(moved(["a", "b", "c"], 1, -1), ["b", "a", "c"])
    assert.deepStrictEqual(moved(["a", "b"], 1, 1), ["a", "b"])
  })
})

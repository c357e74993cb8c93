/** What alerts say: stored in firings, and sent to people and programs, so it stays the same. */
import { ProcessId, WorkerGroupId } from "@signalbox/api/contract/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as AlertTexts from "../src/internal/delivery/AlertTexts.ts"

const time = "2026-01-02T03:04:05.000Z"
const process = "Orders"
const ofProcess = { process: { id: ProcessId.make("01a20000-0000-7000-8000-000000000001") } }
const ofGroup = { worker_group: { id: WorkerGroupId.make("01a20000-0000-7000-8000-000000000002") } }
const failure = { subject: "s", process, code: "BANK_DOWN", message: "no answer" }

describe("the texts of alerts", () => {
  it("say of every rule what it has found", () => {
    assert.strictEqual(
      AlertTexts.sentence({ type: "run_unresolved" }, { subject: "s", process }),
      'the run s of the process "Orders" ended as unresolved'
    )
    assert.strictEqual(
      AlertTexts.sentence({ type: "failure_group" }, failure),
      'new group of failures of the process "Orders" (BANK_DOWN: no answer)'
    )
    assert.strictEqual(
      AlertTexts.sentence({ type: "failure_group", grows: { items: 5, within_seconds: 5400 } }, failure),
      '5 or more new items within 90 minutes in failures of the process "Orders" (BANK_DOWN: no answer)'
    )
    assert.strictEqual(
      AlertTexts.sentence(
        { type: "nothing_completed", seconds: 86_400, ...ofProcess },
        { subject: "s", process, last: null }
      ),
      'no run of the process "Orders" has completed for 1 day'
    )
    assert.strictEqual(
      AlertTexts.sentence(
        {
          type: "nothing_completed",
          seconds: 7200,
          hours: { zone: "UTC", from: "08:00", to: "18:00" },
          ...ofProcess
        },
        { subject: "s", process, last: time }
      ),
      `no run of the process "Orders" has completed for 2 hours within its hours; last completed run: ${time}`
    )
    assert.strictEqual(
      AlertTexts.sentence({ type: "item_waits", seconds: 61 }, { subject: "s", process, item: "i" }),
      'work items of the process "Orders" have waited longer than 61 seconds: i'
    )
    assert.strictEqual(
      AlertTexts.sentence({ type: "no_worker", seconds: 60 }, { subject: "s", name: "default", last: null }),
      "no worker has been online for 1 minute"
    )
    assert.strictEqual(
      AlertTexts.sentence(
        { type: "no_worker", seconds: 60, ...ofGroup },
        { subject: "s", name: "printers", last: time }
      ),
      `no worker of the group "printers" has been online for 1 minute; last seen: ${time}`
    )
    assert.strictEqual(
      AlertTexts.sentence({ type: "schedule_missed" }, { subject: "s", schedule: "nightly", at: time, why: null }),
      `the schedule "nightly" started no run for ${time}: it was missed`
    )
    assert.strictEqual(
      AlertTexts.sentence({ type: "schedule_missed" }, { subject: "s", schedule: "nightly", at: time, why: "paused" }),
      `the schedule "nightly" started no run for ${time}: paused`
    )
    assert.strictEqual(
      AlertTexts.sentence(
        { type: "deliveries_fail" },
        { subject: "s", endpoint: "https://example.com/hook?token=secret", since: time }
      ),
      `deliveries of the webhook s to https://example.com have failed since ${time}`
    )
    assert.strictEqual(
      AlertTexts.sentence({ type: "queue_above", items: 100 }, { subject: "s", process }),
      'more than 100 work items of the process "Orders" are waiting'
    )
    assert.strictEqual(
      AlertTexts.sentence({ type: "disk_above", percent: 90 }, { subject: "node-1", usedPercent: 95 }),
      "disk usage of node-1 is 95 %, above 90 %"
    )
    assert.strictEqual(
      AlertTexts.sentence(
        { type: "paused_by_itself" },
        { subject: "s", process, step: null, since: time, note: "3 items failed" }
      ),
      `the process "Orders" was paused automatically at ${time}: 3 items failed`
    )
    assert.strictEqual(
      AlertTexts.sentence(
        { type: "paused_by_itself" },
        { subject: "s", process, step: "pay", since: time, note: null }
      ),
      `the step "pay" of the process "Orders" was paused automatically at ${time}`
    )
  })

  it("say when something began, is still so, and is over", () => {
    const { began, over, repeated, test } = AlertTexts.messages
    assert.deepStrictEqual(
      [
        began("Disk", "it is full"),
        repeated("Disk", "it is full", time),
        over("Disk", "it is full", time),
        test("Disk")
      ],
      [
        { title: "Disk", text: "it is full." },
        { title: "Disk: still firing", text: `Firing since ${time}: it is full.` },
        { title: "Disk: resolved", text: `Resolved, fired since ${time}: it is full.` },
        { title: "Disk: test", text: "This is a test message of the alert." }
      ]
    )
  })

  it("of many messages are one, which counts them and names the first", () => {
    const message = (id: string, kind: "began" | "over") => ({
      title: "Disk",
      text: `${id} is full.`,
      event: JSON.stringify({
        id,
        type: `alert.${kind}`,
        timestamp: time,
        firing: { id: `f${id}`, subject: id },
        text: `${id} is full.`
      })
    })
    const alone = {
      alert: "Disk",
      kinds: ["began"],
      first: [message("a", "began")],
      newest: message("a", "began")
    } as const
    assert.deepStrictEqual(AlertTexts.gathered(alone), message("a", "began"))
    const { event, text, title } = AlertTexts.gathered({
      alert: "Disk",
      kinds: ["began", "over", "began"],
      first: [message("a", "began"), message("b", "over")],
      newest: message("c", "began")
    })
    assert.strictEqual(title, "Disk: 2 new, 1 resolved")
    assert.strictEqual(text, "- a is full.\n- b is full.\nand 1 more.")
    assert.strictEqual(
      event,
      JSON.stringify({
        id: "c",
        type: "alert.began",
        timestamp: time,
        firing: { id: "fc", subject: "c" },
        text: `${title}\n${text}`,
        count: 3,
        firings: [
          { type: "alert.began", id: "fa", subject: "a" },
          { type: "alert.over", id: "fb", subject: "b" }
        ]
      })
    )
  })
})

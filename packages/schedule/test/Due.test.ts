import { assert, describe, it } from "@effect/vitest"
import type { DefinitionInput } from "@signalbox/schedule/Definition"
import { change, type Due, due, pause, resume, runNow, start, State } from "@signalbox/schedule/Due"
import { occurrences } from "@signalbox/schedule/Occurrences"
import * as Schema from "effect/Schema"
import { schedule, short, utc } from "./support/Definitions.ts"

type Input = Omit<DefinitionInput, "name">

const hourly: Input = { cron: "0 * * * *" }
const at = (time: string) => utc(`2026-11-22T${time}Z`)
const idle = (time: string) => ({ now: at(time), running: false })
const busy = (time: string) => ({ now: at(time), running: true })
const begun = ({ begin }: Due) => begin.map((one) => short(one).slice(11))
const skipped = ({ skipped }: Due) => skipped.map((one) => `${short(one).slice(11)} ${one.reason}`)
const queued = ({ state }: Due) => state.queue.map((time) => short({ at: time }).slice(11))

/** A schedule that was created at half past eight. */
const made = (input: Input) => {
  const definition = schedule(input)
  return { definition, state: start(definition, at("08:30:00")) }
}

describe("due", () => {
  it("begins an occurrence when it comes, and says when the next does", () => {
    const { definition, state } = made(hourly)
    const before = due(definition, state, idle("08:59:59"))
    assert.deepStrictEqual(begun(before), [])
    assert.deepStrictEqual(before.wakeAt, at("09:00:00"))
    const then = due(definition, before.state, idle("09:00:00"))
    assert.deepStrictEqual(
      then.begin.map(({ key }) => key),
      ["s 2026-11-22T09:00:00.000Z"]
    )
    assert.deepStrictEqual(then.wakeAt, at("10:00:00"))
  })

  it("begins an occurrence once", () => {
    const { definition, state } = made(hourly)
    const first = due(definition, state, idle("09:00:00"))
    assert.deepStrictEqual(begun(due(definition, first.state, idle("09:00:00"))), [])
    assert.deepStrictEqual(begun(due(definition, first.state, idle("09:30:00"))), [])
  })

  it("begins nothing again when the clock is set back", () => {
    const { definition, state } = made(hourly)
    const first = due(definition, state, idle("09:00:00"))
    const back = due(definition, first.state, idle("08:50:00"))
    assert.deepStrictEqual(begun(due(definition, back.state, idle("09:00:00"))), [])
  })

  it("begins nothing of the time before the schedule existed", () => {
    const { definition, state } = made({ cron: "30 8 * * *" })
    assert.deepStrictEqual(begun(due(definition, state, idle("09:00:00"))), [])
  })

  it("has no time to wake at when no occurrence is left", () => {
    const { definition, state } = made({ at: "2026-11-22T09:00:00Z" })
    const then = due(definition, state, idle("09:00:00"))
    assert.deepStrictEqual(begun(then), ["09:00"])
    assert.strictEqual(then.wakeAt, undefined)
  })

  it("lists at most 100 of those it skips, and says where there are others", () => {
    const { definition, state } = made({ cron: "* * * * * *" })
    const then = due(definition, state, idle("12:00:00"))
    assert.deepStrictEqual(begun(then), ["12:00"])
    assert.deepStrictEqual([then.skipped.length, skipped(then)[0]], [99, "11:58:21 missed"])
    assert.deepStrictEqual(then.unlisted, { after: at("08:30:00"), before: at("11:58:21") })
  })
})

describe("missed", () => {
  it("last: begins the last one, until the next has come", () => {
    const { definition, state } = made(hourly)
    const then = due(definition, state, idle("11:59:59"))
    assert.deepStrictEqual(begun(then), ["11:00"])
    assert.deepStrictEqual(skipped(then), ["09:00 missed", "10:00 missed"])
  })

  it("none: begins the last one, if it is at most a minute late", () => {
    const { definition, state } = made({ ...hourly, missed: "none" })
    assert.deepStrictEqual(begun(due(definition, state, idle("10:01:00"))), ["10:00"])
    const late = due(definition, state, idle("10:01:01"))
    assert.deepStrictEqual(begun(late), [])
    assert.deepStrictEqual(skipped(late), ["09:00 missed", "10:00 missed"])
  })

  it("all: begins all in their order, as far as runs may overlap", () => {
    const { definition, state } = made({ ...hourly, missed: "all", overlap: "allow" })
    assert.deepStrictEqual(begun(due(definition, state, idle("11:30:00"))), ["09:00", "10:00", "11:00"])
  })

  it("all: begins 100 at a time", () => {
    const { definition, state } = made({ cron: "* * * * *", missed: "all", overlap: "allow" })
    const first = due(definition, state, idle("11:00:00"))
    assert.deepStrictEqual([first.begin.length, begun(first)[99], first.wakeAt], [100, "10:10", at("11:00:00")])
    const second = due(definition, first.state, idle("11:00:00"))
    assert.deepStrictEqual([begun(second)[0], begun(second)[49], second.wakeAt], ["10:11", "11:00", at("11:01:00")])
  })
})

describe("missed, all, with jitter", () => {
  it("waits for the start of the one that is left", () => {
    const { definition, state } = made({ cron: "* * * * *", jitter: "1 minute", missed: "all", overlap: "allow" })
    const { begin, wakeAt } = due(definition, state, idle("10:11:00"))
    const left = occurrences(definition, at("10:11:00"), at("10:12:00"), 1)
    assert.strictEqual(begin.length, 100)
    assert.deepStrictEqual(
      [wakeAt],
      left.map((one) => one.start)
    )
    assert.isAbove(wakeAt?.epochMilliseconds ?? 0, at("10:11:00").epochMilliseconds)
  })
})

describe("overlap", () => {
  it("skip: leaves out what meets an earlier run", () => {
    const { definition, state } = made(hourly)
    const then = due(definition, state, busy("09:00:00"))
    assert.deepStrictEqual([begun(then), skipped(then)], [[], ["09:00 overlap"]])
  })

  it("queue: lets one wait until the earlier run has ended", () => {
    const { definition, state } = made({ ...hourly, overlap: "queue" })
    const first = due(definition, state, busy("09:00:00"))
    assert.deepStrictEqual([begun(first), queued(first)], [[], ["09:00"]])
    const second = due(definition, first.state, busy("10:00:00"))
    assert.deepStrictEqual([queued(second), skipped(second)], [["09:00"], ["10:00 overlap"]])
    const ended = due(definition, second.state, idle("10:20:00"))
    assert.deepStrictEqual([begun(ended), queued(ended)], [["09:00"], []])
  })

  it("queue: holds as many as it may, and begins one at a time", () => {
    const { definition, state } = made({ ...hourly, overlap: "queue", queue: 2, missed: "all" })
    const then = due(definition, state, idle("12:00:00"))
    assert.deepStrictEqual([begun(then), queued(then)], [["09:00"], ["10:00", "11:00"]])
    assert.deepStrictEqual(skipped(then), ["12:00 overlap"])
  })

  it("queue: begins what waits also when the clock was set back", () => {
    const { definition, state } = made({ ...hourly, overlap: "queue" })
    const waiting = due(definition, state, busy("09:00:00")).state
    assert.deepStrictEqual(begun(due(definition, waiting, idle("08:59:00"))), ["09:00"])
  })

  it("allow: begins beside an earlier run", () => {
    const { definition, state } = made({ ...hourly, overlap: "allow" })
    const then = due(definition, state, busy("09:00:00"))
    assert.deepStrictEqual([begun(then), then.stop], [["09:00"], false])
  })

  it("stop: stops the earlier run and begins", () => {
    const { definition, state } = made({ ...hourly, overlap: "stop" })
    const then = due(definition, state, busy("09:00:00"))
    assert.deepStrictEqual([begun(then), then.stop], [["09:00"], true])
    assert.isFalse(due(definition, state, idle("09:00:00")).stop)
    assert.isFalse(due(definition, state, busy("08:45:00")).stop)
  })

  it("stop: of several it begins the last", () => {
    const { definition, state } = made({ ...hourly, overlap: "stop", missed: "all" })
    const then = due(definition, state, busy("11:00:00"))
    assert.deepStrictEqual([begun(then), skipped(then)], [["11:00"], ["09:00 overlap", "10:00 overlap"]])
  })
})

describe("the calendar", () => {
  it("is the reason for what it leaves out", () => {
    // The 22nd of November 2026 is a Sunday.
    const { definition, state } = made({ ...hourly, calendar: { weekdays: ["sun"] } })
    const then = due(definition, state, idle("10:00:00"))
    assert.deepStrictEqual([begun(then), skipped(then)], [[], ["09:00 calendar", "10:00 calendar"]])
  })

  it("leaves nothing out that it moves", () => {
    const { definition, state } = made({ cron: "0 9 * * *", calendar: { weekdays: ["sun"], otherwise: "after" } })
    const then = due(definition, state, { now: utc("2026-11-23T09:00:00Z"), running: false })
    assert.deepStrictEqual([then.begin.map(({ key }) => key), skipped(then)], [["s 2026-11-23T09:00:00.000Z"], []])
  })
})

describe("jitter", () => {
  const jittered: Input = { ...hourly, jitter: "30 minutes" }

  it("begins an occurrence at its start, not before", () => {
    const { definition, state } = made(jittered)
    const { state: waiting, wakeAt = at("00:00:00"), ...early } = due(definition, state, idle("09:00:00"))
    assert.deepStrictEqual([early.begin, early.skipped], [[], []])
    assert.isAbove(wakeAt.epochMilliseconds, at("09:00:00").epochMilliseconds)
    const then = due(definition, waiting, { now: wakeAt, running: false })
    assert.deepStrictEqual(
      then.begin.map(({ key, start }) => [key, start]),
      [["s 2026-11-22T09:00:00.000Z", wakeAt]]
    )
    assert.deepStrictEqual(begun(due(definition, then.state, idle("09:59:00"))), [])
  })
})

describe("pause", () => {
  const pausedBy = { by: "Ada", note: "the ERP is down" }

  it("begins nothing, and is the reason for occurrences in the meantime", () => {
    const { definition, state } = made({ ...hourly, missed: "all", overlap: "allow" })
    const paused = pause(state, { at: at("08:45:00"), ...pausedBy })
    assert.deepStrictEqual(paused.paused, { at: at("08:45:00"), ...pausedBy })
    const then = due(definition, paused, idle("10:00:00"))
    assert.deepStrictEqual([begun(then), skipped(then)], [[], ["09:00 paused", "10:00 paused"]])
  })

  it("keeps its start, whoever pauses again", () => {
    const { state } = made(hourly)
    const paused = pause(state, { at: at("08:45:00"), ...pausedBy })
    const again = pause(paused, { at: at("09:45:00"), by: "Grace", note: "still down" })
    assert.deepStrictEqual(again.paused, { at: at("08:45:00"), by: "Grace", note: "still down" })
  })

  it("leaves out what came before it is resumed, whatever the policy for missed ones", () => {
    const { definition, state } = made({ ...hourly, missed: "all" })
    const resumed = resume(definition, pause(state, { at: at("08:45:00"), ...pausedBy }), at("10:30:00"))
    assert.deepStrictEqual(skipped(resumed), ["09:00 paused", "10:00 paused"])
    assert.strictEqual(resumed.state.paused, null)
    assert.deepStrictEqual(begun(due(definition, resumed.state, idle("11:00:00"))), ["11:00"])
  })

  it("keeps the queue", () => {
    const { definition, state } = made({ ...hourly, overlap: "queue" })
    const waiting = due(definition, state, busy("09:00:00")).state
    const paused = pause(waiting, { at: at("09:10:00"), ...pausedBy })
    assert.deepStrictEqual(begun(due(definition, paused, idle("09:20:00"))), [])
    const { state: resumed } = resume(definition, paused, at("09:30:00"))
    assert.deepStrictEqual(begun(due(definition, resumed, idle("09:30:00"))), ["09:00"])
  })

  it("resume changes nothing of a schedule that is not paused", () => {
    const { definition, state } = made(hourly)
    const resumed = resume(definition, state, at("10:30:00"))
    assert.deepStrictEqual([resumed.state, resumed.skipped], [state, []])
  })
})

describe("a changed definition", () => {
  it("counts from the moment of the change", () => {
    const { state } = made({ cron: "0 12 * * *" })
    const definition = schedule(hourly)
    const changed = change(definition, state, at("10:00:00"))
    assert.deepStrictEqual([begun(changed), changed.wakeAt], [[], at("11:00:00")])
    assert.deepStrictEqual(begun(due(definition, changed.state, idle("10:30:00"))), [])
    assert.deepStrictEqual(begun(due(definition, changed.state, idle("11:00:00"))), ["11:00"])
  })

  it("counts from the first call after an unannounced change", () => {
    const { state } = made({ cron: "0 12 * * *" })
    const definition = schedule(hourly)
    const then = due(definition, state, idle("10:00:00"))
    assert.deepStrictEqual(begun(then), [])
    assert.deepStrictEqual(begun(due(definition, then.state, idle("11:00:00"))), ["11:00"])
  })

  it("drops what waits for an earlier run", () => {
    const { definition, state } = made({ ...hourly, overlap: "queue" })
    const waiting = due(definition, state, busy("09:00:00")).state
    const changed = change(schedule({ cron: "0 12 * * *", overlap: "queue" }), waiting, at("09:30:00"))
    assert.deepStrictEqual([queued(changed), skipped(changed)], [[], ["09:00 overlap"]])
  })

  it("continues unchanged where only a policy changed", () => {
    const { state } = made(hourly)
    const then = due(schedule({ ...hourly, missed: "all", overlap: "allow" }), state, idle("10:00:00"))
    assert.deepStrictEqual(begun(then), ["09:00", "10:00"])
  })
})

describe("run now", () => {
  it("begins immediately, with a separate key, also while paused", () => {
    const { definition, state } = made({ ...hourly, calendar: { weekdays: ["sun"] } })
    const paused = pause(state, { at: at("08:45:00"), by: "Ada", note: "" })
    const then = runNow(definition, paused, idle("09:12:34"))
    assert.deepStrictEqual(
      then.begin.map(({ key }) => key),
      ["s 2026-11-22T09:12:34.000Z"]
    )
    assert.deepStrictEqual(then.state, paused)
  })

  it("meets an earlier run as any occurrence does", () => {
    const skip = made(hourly)
    assert.deepStrictEqual(skipped(runNow(skip.definition, skip.state, busy("09:12:00"))), ["09:12 overlap"])
    const queue = made({ ...hourly, overlap: "queue" })
    assert.deepStrictEqual(queued(runNow(queue.definition, queue.state, busy("09:12:00"))), ["09:12"])
    const stop = made({ ...hourly, overlap: "stop" })
    assert.isTrue(runNow(stop.definition, stop.state, busy("09:12:00")).stop)
  })

  it("waits behind the queue of a paused schedule, as far as there is room", () => {
    const { definition, state } = made({ ...hourly, overlap: "queue", queue: 2 })
    const waiting = due(definition, state, busy("09:00:00")).state
    const paused = pause(waiting, { at: at("09:10:00"), by: "Ada", note: "" })
    const first = runNow(definition, paused, busy("09:12:00"))
    assert.deepStrictEqual([queued(first), skipped(first)], [["09:00", "09:12"], []])
    const second = runNow(definition, first.state, busy("09:13:00"))
    assert.deepStrictEqual([queued(second), skipped(second)], [["09:00", "09:12"], ["09:13 overlap"]])
  })

  it("takes nothing from the times of the schedule", () => {
    const { definition, state } = made(hourly)
    const then = runNow(definition, state, idle("09:12:00"))
    assert.deepStrictEqual(begun(due(definition, then.state, idle("09:12:00"))), ["09:00"])
  })
})

describe("the state", () => {
  it("is JSON", () => {
    const { definition, state } = made({ ...hourly, overlap: "queue" })
    const waiting = pause(due(definition, state, busy("09:00:00")).state, { at: at("09:10:00"), by: "Ada", note: "x" })
    const json: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(State)(waiting)))
    assert.deepStrictEqual(Schema.decodeUnknownSync(State)(json), waiting)
  })
})

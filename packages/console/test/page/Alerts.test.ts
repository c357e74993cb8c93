/** Alerts and their channels while they are edited: what is not touched stays as it is. */
import { assert, describe, it } from "@effect/vitest"
import { AlertChannel, AlertChannelDefinition } from "@signalbox/api/contract/AlertChannels"
import { Alert, AlertDefinition, alertRuleTypes } from "@signalbox/api/contract/Alerts"
import * as Schema from "effect/Schema"
import * as channels from "../../src/page/screens/alerts/channel.ts"
import * as alerts from "../../src/page/screens/alerts/rules.ts"

const at = "2026-01-02T03:04:05.000Z"
/** A body as it arrives. */
const sent = (body: object): unknown => JSON.parse(JSON.stringify(body))

const id = "01a20524-dcd2-733d-aa94-3d15040c052e"
const hours = { zone: "Europe/Vienna", from: "22:00", to: "06:30", weekdays: ["mon", "tue"], except: ["2026-12-25"] }

const written = {
  run_unresolved: { process: { id } },
  failure_group: { process: { id }, grows: { items: 20, within_seconds: 90 } },
  nothing_completed: { process: { id }, seconds: 14_400, hours },
  item_waits: { seconds: 60 },
  no_worker: { worker_group: { id }, seconds: 600 },
  schedule_missed: { schedule: { id } },
  deliveries_fail: { webhook: { id }, attempts: 5 },
  queue_above: { process: { id }, items: 100 },
  disk_above: { percent: 90 },
  paused_by_itself: {}
}

describe("alerts that are edited", () => {
  for (const type of alertRuleTypes) {
    it(`keep what nobody changed: ${type}`, () => {
      const rule = { type, ...written[type] }
      const alert = Schema.decodeUnknownSync(Alert)({
        id,
        name: "night shift",
        created_at: at,
        enabled: false,
        rule,
        channels: [{ id, name: "team" }],
        repeat_seconds: 5400,
        quiet: hours,
        since: at,
        muted: null,
        firing: 0
      })
      const expected = {
        name: "night shift",
        enabled: false,
        rule,
        channels: [{ id }],
        repeat_seconds: 5400,
        quiet: hours
      }
      const body = sent(alerts.definitionOf(alerts.draftOf(alert)))
      assert.deepStrictEqual(body, expected)
      assert.deepStrictEqual(sent(alerts.switched(alert)), { ...expected, enabled: true })
      Schema.decodeUnknownSync(AlertDefinition)(body)
    })
  }
})

const channel = (type: string, target: string, email: object | null) =>
  Schema.decodeUnknownSync(AlertChannel)({
    id,
    name: "team",
    type,
    target,
    email,
    created_at: at,
    last_sent_at: null,
    last_failed_at: null,
    last_error: null
  })

describe("channels that are edited", () => {
  it("keep the server, the addresses and the place of the password", () => {
    const email = {
      security: "tls",
      from: "robots@example.com",
      to: ["a@example.com", "b@example.com"],
      username: "robots",
      password_from: { secret: "mail", item: "password" }
    }
    const body = sent(channels.definitionOf(channels.draftOf(channel("email", "smtp.example.com:465", email))))
    const settings = { type: "email", host: "smtp.example.com", port: 465, ...email }
    assert.deepStrictEqual(body, { name: "team", settings })
    Schema.decodeUnknownSync(AlertChannelDefinition)(body)
  })

  it("send only the fields of their type, and no password that was not typed", () => {
    const draft = {
      ...channels.draftOf(undefined),
      name: "team",
      url: " https://example.com/x ",
      token: "t",
      host: "h"
    }
    const settingsOf = (type: channels.ChannelDraft["type"]) => sent(channels.definitionOf({ ...draft, type }))
    const url = "https://example.com/x"
    assert.deepStrictEqual(settingsOf("slack"), { name: "team", settings: { type: "slack", url } })
    assert.deepStrictEqual(settingsOf("ntfy"), { name: "team", settings: { type: "ntfy", url, token: "t" } })
    const mail = sent(channels.definitionOf({ ...draft, from: "a@example.com", to: "b@example.com; c@example.com" }))
    assert.deepStrictEqual(mail, {
      name: "team",
      settings: {
        type: "email",
        host: "h",
        port: 587,
        security: "starttls",
        from: "a@example.com",
        to: ["b@example.com", "c@example.com"]
      }
    })
  })

  it("send no password in clear text", () => {
    const draft = { ...channels.draftOf(undefined), username: "robots", password: "hunter2" }
    assert.include(JSON.stringify(channels.definitionOf(draft)), "hunter2")
    assert.notInclude(JSON.stringify(channels.definitionOf({ ...draft, security: "none" })), "hunter2")
  })
})

/** What starts runs by itself, and what tells of them: schedules, triggers, webhooks and alerts. */
import * as AlertChannels from "../../../src/contract/AlertChannels.ts"
import * as Alerts from "../../../src/contract/Alerts.ts"
import * as Schedules from "../../../src/contract/Schedules.ts"
import * as Triggers from "../../../src/contract/Triggers.ts"
import * as WebhookEvents from "../../../src/contract/WebhookEvents.ts"
import * as Webhooks from "../../../src/contract/Webhooks.ts"
import { at, type Example, later, of } from "./Example.ts"

const trigger = {
  id: "t1",
  name: "pushes",
  process: { id: "p1", name: "orders" },
  created_at: at,
  enabled: true,
  start: { at_least: 1, oldest_seconds: 60, max_runs: 1 },
  webhook: {
    signature: { type: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=" },
    handshake: "slack",
    payload: { repository: "/repository/full_name" },
    event_id: { header: "X-GitHub-Delivery", pointer: null },
    max_waiting: 1000
  },
  problem: { since: at, message: "the process has no steps" },
  refused_requests: { count: 3, last_at: at, message: "the signature does not match" }
}
const alertChannel = {
  id: "ac1",
  name: "operations",
  type: "email",
  target: "smtp.example.com:587",
  email: {
    security: "starttls",
    from: "robots@example.com",
    to: ["operations@example.com"],
    username: "robots",
    password_from: { secret: "smtp", item: "password" }
  },
  created_at: at,
  last_sent_at: at,
  last_failed_at: later,
  last_error: "the mail server refused the recipients (451)"
}
const alertMessage = {
  id: "am1",
  firing: { id: "af1" },
  channel: { id: "ac1", name: "operations" },
  kind: "began",
  text: 'no run of the process "orders" has completed for 1 hour.',
  state: "pending",
  created_at: at,
  attempts: 1,
  last_attempt_at: at,
  next_attempt_at: later,
  error: "the mail server refused the recipients (451)"
}
const schedule = {
  id: "sch1",
  name: "nightly",
  process: { id: "p1", name: "orders" },
  created_at: at,
  cron: "30 2 * * *",
  every: "1 hour",
  anchor: at,
  at,
  zone: "Europe/Vienna",
  from: at,
  until: later,
  calendar: { dates: ["2026-12-25"], weekdays: ["sun"], otherwise: "before" },
  jitter: "5 minutes",
  missed: "last",
  overlap: "skip",
  queue: 1,
  paused: { since: at, by: { type: "api_key", id: "k1", name: "ci" }, note: "the ERP is down" },
  next_at: later,
  waiting: [at]
}
const webhook = {
  id: "w1",
  process: { id: "p1" },
  enabled_events: ["process_run.started", "process_run.unresolved"],
  endpoint: "https://example.com/hook",
  enabled: true
}
const event = {
  id: "e1",
  webhookEventTimestamp: at,
  event: "process_run",
  action: "unresolved",
  payload: {
    workspaceId: "ws1",
    processId: "p1",
    processName: "orders",
    processRunId: "r1",
    state: "unresolved",
    seqNo: 2,
    startedAt: at,
    endedAt: later,
    duration: 60.5,
    result: "error",
    errorCode: "BAD_ROW",
    pause: null
  }
}

export const startExamples: ReadonlyArray<Example> = [
  of("Alert", Alerts.Alert, {
    id: "al1",
    name: "stuck",
    created_at: at,
    enabled: true,
    rule: {
      type: "nothing_completed",
      process: { id: "p1" },
      seconds: 3600,
      hours: { zone: "Europe/Vienna", from: "08:00", to: "18:00", weekdays: ["mon"], except: ["2026-12-25"] }
    },
    channels: [{ id: "ac1", name: "team" }],
    repeat_seconds: 86_400,
    quiet: { zone: "Europe/Vienna", from: "22:00", to: "07:00" },
    since: at,
    muted: { until: later, note: "we know", by: { id: "k1", name: "ci" } },
    firing: 1
  }),
  of("AlertFiring", Alerts.AlertFiring, {
    id: "af1",
    alert: { id: "al1", name: "stuck" },
    state: "firing",
    subject: "p1",
    message: 'no run of the process "orders" has completed for 1 hour',
    began_at: at,
    ended_at: later,
    last_told_at: at,
    last_error: "the channel responded with 503; 2xx is expected"
  }),
  of("AlertMessage", Alerts.AlertMessage, alertMessage),
  of("AlertTest", Alerts.AlertTest, { messages: [alertMessage] }),
  of("AlertEvent", Alerts.AlertEvent, {
    id: "am1",
    type: "alert.began",
    timestamp: at,
    workspace_id: "w1",
    alert: { id: "al1", name: "stuck", rule: "nothing_completed" },
    firing: { id: "af1", subject: "p1", began_at: at, ended_at: later },
    text: 'no run of the process "orders" has completed for 1 hour.'
  }),
  of("AlertChannel", AlertChannels.AlertChannel, alertChannel),
  of("AlertChannelCreated", AlertChannels.AlertChannelCreated, { ...alertChannel, secret: "whsec_AAEC" }),
  of("ScheduleListed", Schedules.ScheduleListed, schedule),
  of("Schedule", Schedules.Schedule, {
    ...schedule,
    inputs: { type: "with_payloads", payloads: [{ until: "{at}" }] },
    masked: ["/0/until"],
    running: [{ id: "r1" }]
  }),
  of("ScheduleTime", Schedules.ScheduleTime, {
    at,
    starts_at: later,
    local: "2026-11-20T09:00:00.000+01:00[Europe/Vienna]"
  }),
  of("ScheduleOccurrence", Schedules.ScheduleOccurrence, {
    id: "so1",
    at,
    recorded_at: later,
    outcome: "skipped",
    reason: "overlap",
    why: "the run r1 has not ended, and overlap is skip",
    process_run: { id: "r1" }
  }),
  of("TriggerListed", Triggers.TriggerListed, trigger),
  of("Trigger", Triggers.Trigger, { ...trigger, running: [{ id: "r1" }] }),
  of("TriggerCreated", Triggers.TriggerCreated, { ...trigger, running: [], url: "https://example.com/hooks/secret" }),
  of("WebhookListed", Webhooks.WebhookListed, webhook),
  of("Webhook", Webhooks.Webhook, { ...webhook, secret: "whsec_AAEC" }),
  of("WebhookDelivery", Webhooks.WebhookDelivery, {
    id: "d1",
    event_id: "e1",
    event_type: "process_run.started",
    process_run: { id: "r1" },
    state: "pending",
    created_at: at,
    attempts: 2,
    last_attempt_at: later,
    next_attempt_at: later,
    response_status: 500,
    error: "the endpoint responded with 500",
    body: JSON.stringify(event)
  }),
  of("WebhookEvent", WebhookEvents.WebhookEvent, event)
]

/** The files of Prometheus: its own check, each alert rule with series that make it fire, and a real room that is scraped. */
import assert from "node:assert/strict"
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, it } from "node:test"
import { parse, stringify } from "yaml"
import { missing, root, run, textOf } from "./Files.ts"
import { eventually, freePort, type Room, type Running, start, startRoom, unlessEnded } from "./Room.ts"

const rulesFile = "deploy/prometheus/signalbox.rules.yml"

interface Rule {
  readonly alert: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}
const rules: ReadonlyArray<Rule> = parse(textOf(rulesFile)).groups.flatMap(
  ({ rules }: { readonly rules: ReadonlyArray<Rule> }) => rules
)

interface Case {
  /** Series, a value each minute; `_` is no value. */
  readonly series: Readonly<Record<string, string>>
  /** When it fires, and not at `quiet` yet. */
  readonly at: string
  readonly quiet: string
  readonly labels?: Readonly<Record<string, string>>
  readonly summary: string
}

const node = { job: "signalbox", instance: "room:4700" }
const of = (name: string, labels: Readonly<Record<string, string>>) =>
  `${name}{${Object.entries({ ...node, ...labels })
    .map(([label, value]) => `${label}="${value}"`)
    .join(",")}}`
const series = (name: string, labels: Readonly<Record<string, string>>, values: string) => ({
  [of(`signalbox_${name}`, labels)]: values
})
const process = { workspace: "default", process: "invoices" }

/** What makes each alert fire. */
const cases: Readonly<Record<string, Case>> = {
  SignalboxDown: {
    series: { [of("up", {})]: "1x5 0x10" },
    quiet: "7m",
    at: "9m",
    labels: node,
    summary: "room:4700 does not respond to Prometheus"
  },
  SignalboxRequestsFail: {
    series: {
      ...series("http_request_seconds_count", { status: "500" }, "0x10 0+10x20"),
      ...series("http_request_seconds_count", { status: "200" }, "0+90x30")
    },
    quiet: "10m",
    at: "22m",
    summary: "10% of all requests fail with a server error"
  },
  SignalboxSlow: {
    series: {
      ...series("http_request_seconds_bucket", { interface: "api", le: "1" }, "0x30"),
      ...series("http_request_seconds_bucket", { interface: "api", le: "5" }, "0+60x30"),
      ...series("http_request_seconds_bucket", { interface: "api", le: "+Inf" }, "0+60x30"),
      // Those of workers wait on purpose.
      ...series("http_request_seconds_bucket", { interface: "lease", le: "60" }, "0+600x30"),
      ...series("http_request_seconds_bucket", { interface: "lease", le: "+Inf" }, "0+600x30")
    },
    quiet: "5m",
    at: "20m",
    summary: "1 in 100 requests of clients takes longer than 4.96s"
  },
  SignalboxStorageFails: {
    series: series("storage_failures_total", { kind: "full" }, "0x5 1x10"),
    quiet: "5m",
    at: "7m",
    labels: { kind: "full" },
    summary: "Requests fail because of the storage: full"
  },
  SignalboxDatabaseSlow: {
    series: {
      ...series("database_transaction_seconds_bucket", { le: "0.5" }, "0x30"),
      ...series("database_transaction_seconds_bucket", { le: "2" }, "0+60x30"),
      ...series("database_transaction_seconds_bucket", { le: "+Inf" }, "0+60x30")
    },
    quiet: "5m",
    at: "20m",
    summary: "1 in 100 transactions takes longer than 1.985s"
  },
  SignalboxDiskFills: {
    series: series("disk_used_ratio", {}, "0.8x5 0.9x20"),
    quiet: "14m",
    at: "17m",
    labels: node,
    summary: "The disk of room:4700 is 90% full"
  },
  SignalboxDiskFull: {
    series: series("disk_used_ratio", {}, "0.9x5 0.97x10"),
    quiet: "5m",
    at: "8m",
    labels: node,
    summary: "The disk of room:4700 is 97% full"
  },
  SignalboxNoWorker: {
    series: {
      ...series("workers", { state: "online" }, "1x5 0x20"),
      ...series("workers", { state: "offline" }, "1x25"),
      ...series("step_runs_waiting", {}, "3x25")
    },
    quiet: "9m",
    at: "12m",
    summary: "Step runs wait, and no worker is online"
  },
  SignalboxStepRunsWait: {
    series: series("step_run_oldest_wait_seconds", {}, "800x5 1000x20"),
    quiet: "9m",
    at: "12m",
    summary: "A step run has waited for a worker for 16m 40s"
  },
  SignalboxWorkersLost: {
    series: {
      ...series("step_runs_ended_total", { error: "ROBOT_FAILURE" }, "0+1x10"),
      ...series("step_runs_ended_total", { error: "WORKER_LOST" }, "0x5 1x10")
    },
    quiet: "5m",
    at: "7m",
    summary: "Workers went silent while they processed step runs"
  },
  SignalboxLeasesExpire: {
    series: series("leases_expired_total", {}, "0x5 1 1 1 1 9x10"),
    quiet: "9m",
    at: "12m",
    summary: "Workers lease step runs and do not start them"
  },
  SignalboxRunsUnresolved: {
    series: series("process_runs_total", { ...process, action: "unresolved" }, "7x5 8x10"),
    quiet: "5m",
    at: "7m",
    labels: process,
    summary: "Runs of invoices (default) ended unresolved"
  },
  SignalboxItemsLate: {
    series: series("work_items_late", {}, "0x5 2x20"),
    quiet: "9m",
    at: "12m",
    summary: "2 work items are after their due time"
  },
  SignalboxWebhooksUndelivered: {
    series: series("webhook_delivery_oldest_seconds", {}, "600x5 4000x20"),
    quiet: "9m",
    at: "12m",
    summary: "A webhook has not been delivered for 1h 6m 40s"
  },
  SignalboxWebhooksGivenUp: {
    series: {
      ...series("webhook_attempts_total", { outcome: "retried" }, "0+1x20"),
      ...series("webhook_attempts_total", { outcome: "failed" }, "0x5 1x10")
    },
    quiet: "5m",
    at: "7m",
    summary: "Deliveries of webhooks were given up"
  },
  SignalboxAlertsNotSent: {
    series: series("alert_messages_not_sent_total", {}, "0x5 1x10"),
    quiet: "5m",
    at: "7m",
    summary: "Messages of alerts cannot be delivered"
  },
  SignalboxLoopLate: {
    series: series("event_loop_delay_seconds", {}, "0.1x5 0.7x20"),
    quiet: "14m",
    at: "17m",
    labels: node,
    summary: "room:4700 gets to its work 700ms late"
  }
}

const testOf = (alert: string, { at, labels = {}, quiet, series, summary }: Case) => {
  const rule = rules.find((one) => one.alert === alert)
  if (rule === undefined) throw new Error(`${rulesFile} has no alert ${alert}`)
  const firing = {
    exp_labels: { ...labels, ...rule.labels },
    exp_annotations: { summary, runbook_url: rule.annotations.runbook_url }
  }
  return {
    name: alert,
    interval: "1m",
    input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
    alert_rule_test: [
      { eval_time: quiet, alertname: alert, exp_alerts: [] },
      { eval_time: at, alertname: alert, exp_alerts: [firing] }
    ]
  }
}

describe("the alert rules", { skip: missing("promtool") }, () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-rules-"))
  after(() => rmSync(folder, { recursive: true }))

  const tested = (file: string, tests: ReadonlyArray<unknown>) => {
    const path = join(folder, file)
    writeFileSync(path, stringify({ rule_files: [join(root, rulesFile)], evaluation_interval: "1m", tests }))
    return run("promtool", ["test", "rules", path])
  }

  it("are ones that Prometheus takes, and so is its configuration", () => {
    const ran = run("promtool", ["check", "config", join(root, "deploy/prometheus/prometheus.yml")])
    assert.equal(ran?.status, 0, ran?.output)
    assert.match(ran?.output ?? "", new RegExp(`${rules.length} rules found`))
  })

  it("each fire by what they are for, and not before", () => {
    assert.deepEqual(Object.keys(cases).sort(), rules.map(({ alert }) => alert).sort())
    const ran = tested(
      "each.yml",
      Object.entries(cases).map(([alert, one]) => testOf(alert, one))
    )
    assert.equal(ran?.status, 0, ran?.output)
  })
})

describe("Prometheus", { skip: missing("prometheus") }, () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-prometheus-"))
  let room: Room
  let prometheus: Running
  let origin: string

  before(async () => {
    room = await startRoom()
    cpSync(join(root, "deploy/prometheus"), folder, { recursive: true })
    // What differs from a machine: where the room listens, and how often it is asked.
    const configuration = textOf("deploy/prometheus/prometheus.yml")
    const here = configuration.replace("127.0.0.1:4700", `127.0.0.1:${room.port}`).replaceAll("15s", "1s")
    assert.notEqual(here, configuration)
    writeFileSync(join(folder, "prometheus.yml"), here)
    // Fires at once, by the same rules file: without the pause before the alert.
    const rules = parse(textOf(rulesFile))
    rules.groups[0].interval = "1s"
    for (const rule of rules.groups[0].rules) rule.for = "0m"
    writeFileSync(join(folder, "signalbox.rules.yml"), stringify(rules))
    const listen = `127.0.0.1:${await freePort()}`
    origin = `http://${listen}`
    const flags = ["--config.file", join(folder, "prometheus.yml"), "--storage.tsdb.path", join(folder, "data")]
    prometheus = start("prometheus", [...flags, "--web.listen-address", listen, "--log.level", "warn"])
  })
  after(async () => {
    await prometheus?.stop()
    await room?.close()
    rmSync(folder, { recursive: true })
  })

  /** What its interface returns, once it is what is waited for. */
  const read = <A>(what: string, path: string, find: (data: never) => A | undefined) =>
    unlessEnded(
      prometheus,
      eventually(what, async () => {
        const response = await fetch(`${origin}/api/v1/${path}`).catch(() => undefined)
        if (response?.ok !== true) return undefined
        // A cast: each caller names the members that it reads.
        return find(((await response.json()) as { readonly data: never }).data)
      })
    )

  it("scrapes a room, and keeps its metrics", async () => {
    const query = `query?query=${encodeURIComponent('signalbox_workers{state="online"}')}`
    const value = await read(
      "a metric of the room",
      query,
      (data: { readonly result: ReadonlyArray<{ value: unknown }> }) => data.result.at(0)?.value
    )
    assert.deepEqual(Array.isArray(value) ? value[1] : value, "0")
  })

  it("has no error in a rule, and raises an alert for a room that is stopped", async () => {
    interface Groups {
      readonly groups: ReadonlyArray<{
        readonly rules: ReadonlyArray<{ readonly name: string; readonly health: string; readonly state: string }>
      }>
    }
    const all = (data: Groups) => data.groups.flatMap(({ rules }) => rules)
    const healths = await read("every rule is evaluated", "rules", (data: Groups) => {
      const healths = all(data).map(({ health }) => health)
      return healths.length === rules.length && !healths.includes("unknown") ? healths : undefined
    })
    assert.deepEqual([...new Set(healths)], ["ok"])
    await room.running.stop()
    const state = await read("the alert", "rules", (data: Groups) =>
      all(data).some(({ name, state }) => name === "SignalboxDown" && state === "firing") ? "firing" : undefined
    )
    assert.equal(state, "firing")
  })
})

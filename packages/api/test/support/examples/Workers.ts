/** Workers, their groups, and what they send and receive. */
import { Page } from "../../../src/contract/Common.ts"
import * as WorkerGroups from "../../../src/contract/WorkerGroups.ts"
import * as WorkerProtocol from "../../../src/contract/WorkerProtocol.ts"
import * as Workers from "../../../src/contract/Workers.ts"
import { type Example, later, of, paused } from "./Example.ts"

const token = { id: "t1", name: "autoscaling", expires_at: later, worker_group: { id: "g1" } }

export const workerExamples: ReadonlyArray<Example> = [
  of("Worker", Workers.Worker, {
    id: "wk1",
    name: "machine 1",
    state: "idle",
    labels: ["gpu"],
    draining: false,
    paused,
    last_seen_at: later,
    worker_groups: [{ id: "g1", name: "big machines" }],
    step_runs: [{ id: "s1", step: "read", process_run: { id: "r1" } }]
  }),
  of("QueueDepth", Workers.QueueDepth, { waiting: 3, assigned: 2, total: 5 }),
  of("LinkToken", Workers.LinkToken, { id: "t1", expires_at: later, link_token: "secret" }),
  of("WorkerGroup", WorkerGroups.WorkerGroup, { id: "g1", name: "big machines", paused }),
  of("Membership", WorkerGroups.Membership, {
    worker: { id: "wk1" },
    worker_groups: [{ id: "g1", name: "big machines", paused: null }]
  }),
  of("GroupLinkToken", WorkerGroups.GroupLinkToken, token),
  of("GroupLinkTokenCreated", WorkerGroups.GroupLinkTokenCreated, { ...token, link_token: "secret" }),
  of("Linked", WorkerProtocol.Linked, {
    worker_id: "wk1",
    workspace_id: "ws1",
    worker_token: "secret",
    heartbeat_seconds: 3
  }),
  of("Lease", WorkerProtocol.Lease, {
    step_run_id: "sr1",
    process_id: "p1",
    process_run_id: "r1",
    lease_token: "secret",
    run_token: "secret",
    task: { name: "Main" },
    package: { digest: "sha256:00", url: "https://example.com/tp1" },
    work_item_id: "i1",
    timeout_seconds: 60,
    env: { A: "b" },
    environment: { path: "/srv/environments/invoices" }
  }),
  of("ItemInHand", WorkerProtocol.ReservedItem, {
    work_item_id: "i1",
    attempt: 1,
    payload: { order: 17 },
    files: [{ id: "f1", name: "in.txt", size: 2 }]
  }),
  of("SettledItem", WorkerProtocol.SettledItem, {
    work_item_id: "i1",
    attempt: 1,
    state: "FAILED",
    exception: { type: "BUSINESS", code: "NO_ADDRESS", message: "no address" },
    outputs: []
  }),
  of(
    "a page",
    Page(Workers.Worker),
    {
      data: [
        {
          id: "wk1",
          name: "m",
          state: "busy",
          labels: [],
          draining: true,
          paused: null,
          last_seen_at: null,
          worker_groups: [],
          step_runs: []
        }
      ],
      has_more: true,
      next: "https://example.com"
    },
    null
  )
]

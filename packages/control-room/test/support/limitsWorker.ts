/**
 * A worker of the drill of limits, as a process that is killed: it knows only the interface of workers. Some leases it never starts, some
 * items fail, and the others travel on.
 */
const [, , origin = "", token = "", seed = "1"] = process.argv

let state = Number(seed)
const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647

interface Lease {
  readonly step_run_id: string
  readonly process_run_id: string
  readonly lease_token: string
}

interface Item {
  readonly work_item_id: string
  readonly attempt: number
  readonly payload: unknown
}

/** The answer; null where the service refuses: another has the step run. */
const post = async <A>(path: string, body: object): Promise<A | null> => {
  const answer = await fetch(`${origin}/worker-v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  const text = await answer.text()
  if (answer.status === 400) throw new Error(text)
  return answer.ok ? JSON.parse(text) : null
}

const held = new Set<string>()
const beat = () => post("heartbeat", { step_run_ids: [...held] })

const run = async ({ lease_token, process_run_id, step_run_id }: Lease) => {
  held.add(step_run_id)
  await post(`step-runs/${step_run_id}/start`, { lease_token })
  const next = async (settled: object | undefined) => {
    const ask = {
      step_run_id,
      lease_token,
      reserve: settled !== undefined,
      ...(settled === undefined ? {} : { settled })
    }
    const answer = await post<{ readonly step_runs: ReadonlyArray<{ readonly item: Item | null }> }>(
      `process-runs/${process_run_id}/next`,
      { step_runs: [ask] }
    )
    return answer?.step_runs[0]?.item ?? null
  }
  let item = await next(undefined)
  while (item !== null) {
    const { attempt, payload, work_item_id } = item
    await new Promise((resolve) => setTimeout(resolve, random() * 3))
    const failed = { state: "FAILED", exception: { code: "E", type: "APPLICATION", message: "failed" } }
    const fate = random() < 0.08 ? failed : { state: "COMPLETED", outputs: [payload] }
    item = await next({ work_item_id, attempt, ...fate })
  }
  await post(`step-runs/${step_run_id}/finish`, { lease_token, error: null })
  held.delete(step_run_id)
}

// The step runs that a killed process had are lost.
await beat()
setInterval(() => void beat(), 500)
for (;;) {
  const leased = await post<{ readonly leases: ReadonlyArray<Lease> }>("lease", {
    free: 3,
    tasks: ["t"],
    wait_seconds: 1
  })
  await Promise.all((leased?.leases ?? []).filter(() => random() >= 0.03).map(run))
}

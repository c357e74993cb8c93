/** Bulk operations: jobs that go on without this page, with what they did and what was refused. */
import type { BulkOperation } from "@signalbox/api/contract/BulkOperations"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { List } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { several, short, count } from "../../words.ts"

const verbs: Readonly<Record<string, readonly [title: string, done: string]>> = {
  retry: ["Retry", "retried"],
  mark_as_done: ["Mark as done", "marked as done"],
  delete: ["Delete", "deleted"],
  start_again: ["Start again", "started again"]
}
const titleOf = ({ operation }: BulkOperation) => verbs[operation]?.[0] ?? operation
const doneOf = ({ operation }: BulkOperation) => verbs[operation]?.[1] ?? "done"
const nounOf = ({ operation }: BulkOperation) => (operation === "start_again" ? "run" : "item")
const isOver = ({ state }: BulkOperation) => state === "completed" || state === "cancelled"

/** Which items, in words. */
const Which = ({ job: { filter } }: { readonly job: BulkOperation }) => {
  const { failure_id, process_id, ...rest } = filter
  return (
    <>
      {failure_id === undefined ? null : <a href={to(["failures", failure_id])}>a group of failures</a>}
      {process_id === undefined ? null : (
        <>
          {failure_id === undefined ? "" : " of "}
          <a href={to(["processes", process_id])}>
            the process <span class="mono">{short(process_id)}</span>
          </a>
        </>
      )}
      {Object.entries(rest)
        .map(
          ([key, value]) =>
            `${key.replaceAll("_", " ")} ${Array.isArray(value) ? several(value.length, "id") : String(value)}`
        )
        .join(", ")}
    </>
  )
}

/** How far a job is, what was refused and why. */
export const Progress = ({
  id,
  failedAt = null
}: {
  readonly id: string
  /** When an item of the group failed last. */ readonly failedAt?: string | null
}) => {
  const { data: job, error, reload } = useResource<BulkOperation>(`bulk-operations/${id}`)
  const action = useAction()
  if (job === undefined) return <Problem message={error} />
  const { done, refusals, refused, skipped, total } = job
  const left = isOver(job) ? 0 : Math.max(0, total - done - refused)
  return (
    <>
      <Problem message={action.error} />
      <p class="jobline">
        <State state={job.state} />
        <span aria-live="polite">
          <b>
            {count(done)} of {several(total, nounOf(job))} {doneOf(job)}
          </b>
          {refused > 0 ? `, ${count(refused)} refused` : ""}
          {skipped !== null && skipped > 0 ? `, ${count(skipped)} had changed before their turn` : ""}
          {left > 0 ? `, ${count(left)} to go` : ""}
        </span>
        {isOver(job) ? (
          <span class="quiet">
            <Time at={job.ended_at} />
          </span>
        ) : (
          <Button
            onClick={() =>
              void action.run(async () => {
                await call("POST", `bulk-operations/${id}/cancel`)
                reload()
              }, "The job ends; what it has done stays.")
            }
          >
            Cancel the rest
          </Button>
        )}
      </p>
      <progress
        max={Math.max(1, total)}
        value={isOver(job) ? Math.max(1, total) : done + refused}
        aria-label="Progress"
      >
        {count(done + refused)} of {count(total)}
      </progress>
      {isOver(job) ? null : <p class="quiet">It continues when this page is closed.</p>}
      {job.operation === "retry" && failedAt !== null && failedAt > job.created_at ? (
        <p>Since then items have failed like this again: see what has become of them below.</p>
      ) : null}
      {refusals.length === 0 ? null : (
        <ul class="needs refusals" aria-label="What was refused">
          {refusals.map((refusal) => (
            <li key={refusal.code + refusal.message} class="failed">
              <span class="lamp" aria-hidden="true" />
              <div>
                <b>
                  {several(refusal.count, nounOf(job))}: {refusal.message}
                </b>
                <br />
                <span class="quiet">
                  {refusal.code} · such as{" "}
                  {refusal.ids.map((id) => (
                    <>
                      <a class="mono" href={to([nounOf(job) === "run" ? "runs" : "items", id])}>
                        {short(id)}
                      </a>{" "}
                    </>
                  ))}
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

export const Job = ({ id }: { readonly id: string }) => {
  const { data: job, error } = useResource<BulkOperation>(`bulk-operations/${id}`)
  return (
    <>
      <Head title={job === undefined ? "Job" : `${titleOf(job)} ${several(job.total, nounOf(job))}`}>
        {job === undefined ? null : <Time at={job.created_at} />}
      </Head>
      <Problem message={error} />
      <Panel>
        <Progress id={id} />
      </Panel>
      {job === undefined ? null : (
        <p class="quiet after">
          It takes what matched when it was started: <Which job={job} />.
        </p>
      )}
    </>
  )
}

export const Jobs = () => (
  <Panel flush>
    <List<BulkOperation>
      label="Jobs"
      path="bulk-operations"
      empty={
        <Empty title="No jobs yet">Retrying or settling a group of failures is a job; it stays here for 30 days.</Empty>
      }
      columns={[
        {
          title: "Job",
          cell: (job) => (
            <a href={to(["failures", "jobs", job.id])}>
              <State state={job.state}>
                {titleOf(job)} {several(job.total, nounOf(job))}
              </State>
            </a>
          )
        },
        { title: "Of", cell: (job) => <Which job={job} /> },
        { title: "Done", isNumber: true, cell: ({ done }) => count(done) },
        {
          title: "Refused",
          isNumber: true,
          cell: ({ refused }) => (refused === 0 ? "0" : <span class="wrong">{count(refused)}</span>)
        },
        { title: "Started", isNumber: true, cell: ({ created_at }) => <Time at={created_at} /> }
      ]}
    />
  </Panel>
)

/** Bulk operations: jobs that go on without this page, with what they did and what was refused. */
import type { BulkOperation } from "@signalbox/api/contract/BulkOperations"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { List } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { short, count } from "../../format.ts"
import { stateText } from "../../kit/states.ts"
import * as text from "../../text/text.ts"

const { operations } = text.failures
const isKnown = (operation: string): operation is keyof typeof operations => Object.hasOwn(operations, operation)
const wordsOf = ({ operation }: BulkOperation) =>
  isKnown(operation) ? operations[operation] : { verb: operation, past: stateText("done") }
const isOfRuns = ({ operation }: BulkOperation) => operation === "start_again"
const titleOf = (job: BulkOperation) =>
  text.failures.jobTitle(wordsOf(job).verb, text.failures.jobItems(job.total, isOfRuns(job)))
const isOver = ({ state }: BulkOperation) => state === "completed" || state === "cancelled"

/** Which items, in words. */
const Which = ({ job: { filter } }: { readonly job: BulkOperation }) => {
  const { failure_id, process_id, ...rest } = filter
  return (
    <>
      {failure_id === undefined ? null : <a href={to(["failures", failure_id])}>{text.failures.aFailure}</a>}
      {process_id === undefined ? null : (
        <>
          {failure_id === undefined ? "" : text.failures.ofProcess}
          <a href={to(["processes", process_id])}>
            {text.failures.theProcess(<span class="mono">{short(process_id)}</span>)}
          </a>
        </>
      )}
      {Object.entries(rest)
        .map(
          ([key, value]) =>
            `${key.replaceAll("_", " ")} ${Array.isArray(value) ? text.failures.ids(value.length) : String(value)}`
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
          <b>{text.failures.doneOf(done, text.failures.jobItems(total, isOfRuns(job)), wordsOf(job).past)}</b>
          {refused > 0 ? text.failures.refusedItems(refused) : ""}
          {skipped !== null && skipped > 0 ? text.failures.skippedItems(skipped) : ""}
          {left > 0 ? text.failures.remaining(left) : ""}
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
              }, text.failures.cancelled)
            }
          >
            {text.failures.cancelJob}
          </Button>
        )}
      </p>
      <progress
        max={Math.max(1, total)}
        value={isOver(job) ? Math.max(1, total) : done + refused}
        aria-label={text.failures.progress}
      >
        {text.failures.doneOfAll(done + refused, total)}
      </progress>
      {isOver(job) ? null : <p class="quiet">{text.failures.continues}</p>}
      {job.operation === "retry" && failedAt !== null && failedAt > job.created_at ? (
        <p>{text.failures.failedAgain}</p>
      ) : null}
      {refusals.length === 0 ? null : (
        <ul class="needs refusals" aria-label={text.failures.refusals}>
          {refusals.map((refusal) => (
            <li key={refusal.code + refusal.message} class="failed">
              <span class="lamp" aria-hidden="true" />
              <div>
                <b>
                  {text.failures.jobItems(refusal.count, isOfRuns(job))}: {refusal.message}
                </b>
                <br />
                <span class="quiet">
                  {text.failures.example(
                    refusal.code,
                    refusal.ids.map((id) => (
                      <>
                        <a class="mono" href={to([isOfRuns(job) ? "runs" : "items", id])}>
                          {short(id)}
                        </a>{" "}
                      </>
                    ))
                  )}
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
      <Head title={job === undefined ? text.failures.job : titleOf(job)}>
        {job === undefined ? null : <Time at={job.created_at} />}
      </Head>
      <Problem message={error} />
      <Panel>
        <Progress id={id} />
      </Panel>
      {job === undefined ? null : <p class="quiet after">{text.failures.matched(<Which job={job} />)}</p>}
    </>
  )
}

export const Jobs = () => (
  <Panel flush>
    <List<BulkOperation>
      label={text.failures.jobs}
      path="bulk-operations"
      empty={<Empty title={text.failures.noJobs}>{text.failures.noJobsHint}</Empty>}
      columns={[
        {
          title: text.failures.job,
          cell: (job) => (
            <a href={to(["failures", "jobs", job.id])}>
              <State state={job.state}>{titleOf(job)}</State>
            </a>
          )
        },
        { title: text.failures.target, cell: (job) => <Which job={job} /> },
        { title: text.failures.doneColumn, isNumber: true, cell: ({ done }) => count(done) },
        {
          title: text.failures.refused,
          isNumber: true,
          cell: ({ refused }) => (refused === 0 ? "0" : <span class="wrong">{count(refused)}</span>)
        },
        { title: text.common.started, isNumber: true, cell: ({ created_at }) => <Time at={created_at} /> }
      ]}
    />
  </Panel>
)

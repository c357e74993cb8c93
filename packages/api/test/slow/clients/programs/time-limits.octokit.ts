/** Waits for the end of a run of a workflow, at most as long as it may take, and no longer than the person wants to. */
import { setTimeout } from "node:timers/promises"
import { Octokit } from "octokit"

type Options = ConstructorParameters<typeof Octokit>[0]

export const main = async (
  owner: string,
  repo: string,
  run_id: number,
  timeout: number,
  cancel: AbortSignal,
  options?: Options
) => {
  const octokit = new Octokit(options)
  const signal = AbortSignal.any([cancel, AbortSignal.timeout(timeout)])
  const request = { signal }
  try {
    while (true) {
      const { data } = await octokit.rest.actions.getWorkflowRun({
        owner,
        repo,
        run_id,
        request
      })
      if (data.status === "completed") return data.conclusion
      await setTimeout(1_000, undefined, { signal })
    }
  } catch (error) {
    if (cancel.aborted) return "cancelled"
    if (signal.aborted) return "still running"
    throw error
  }
}

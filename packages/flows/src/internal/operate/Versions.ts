/**
 * The versions of flows: which have executions that have not ended, and which processes run them.
 */
import { type FlowVersion, type Process, type StateCount, type UnendedState, versionName } from "../model/Execution.ts"

/** A process that has registered a version. */
export interface VersionProcess {
  readonly id: string
  readonly host: string
  /** Whether it only continues executions of the version that have begun. */
  readonly draining: boolean
}

/** A version of a flow that has executions that have not ended, or that a process has registered. */
export interface VersionStatus extends FlowVersion {
  /** Whether no later version of the flow is known. */
  readonly newest: boolean
  /** How many executions have not ended, by state. */
  readonly executions: Readonly<Record<UnendedState, number>>
  /** How many have not ended, in all. */
  readonly unended: number
  /** When the oldest of these started: milliseconds since 1970; null when there is none. */
  readonly oldest: number | null
  /** The living processes that have registered it. */
  readonly processes: ReadonlyArray<VersionProcess>
  /** Whether the code of the version may be deleted: all of its executions have ended. */
  readonly removable: boolean
}

const processesOf = ({ flow, version }: FlowVersion, processes: ReadonlyArray<Process>) =>
  processes.flatMap(({ flows, host, id }): ReadonlyArray<VersionProcess> => {
    const own = flows.find((known) => known.flow === flow && known.version === version)
    return own === undefined ? [] : [{ id, host, draining: own.drain === true }]
  })

/** Returns the versions of one flow, or of all: by flow, the newest version first. */
export const versionsOf = (
  counts: ReadonlyArray<StateCount>,
  processes: ReadonlyArray<Process>,
  flow: string | undefined
): ReadonlyArray<VersionStatus> => {
  const registered = processes
    .flatMap(({ flows }) => flows)
    .filter((known) => flow === undefined || known.flow === flow)
  const known = new Map([...counts, ...registered].map((one) => [versionName(one), one]))
  const newest = new Map<string, number>()
  for (const { flow, version } of known.values()) newest.set(flow, Math.max(version, newest.get(flow) ?? version))
  return [...known.values()]
    .map(({ flow, version }): VersionStatus => {
      const own = counts.filter((count) => count.flow === flow && count.version === version)
      const countOf = (state: UnendedState) => own.find((count) => count.state === state)?.count ?? 0
      const unended = own.reduce((sum, { count }) => sum + count, 0)
      return {
        flow,
        version,
        newest: newest.get(flow) === version,
        executions: {
          queued: countOf("queued"),
          waiting: countOf("waiting"),
          running: countOf("running"),
          undoing: countOf("undoing"),
          halted: countOf("halted"),
          suspended: countOf("suspended")
        },
        unended,
        oldest: unended === 0 ? null : Math.min(...own.map(({ oldest }) => oldest)),
        processes: processesOf({ flow, version }, processes),
        removable: unended === 0
      }
    })
    .sort((one, other) => (one.flow < other.flow ? -1 : one.flow > other.flow ? 1 : other.version - one.version))
}

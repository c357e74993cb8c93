/** Exit codes of commands; the README has the same table. A stop by signal is a success. */
export const exitCodes = {
  /** Whatever has no code of its own, also a wait that ended before the run. */
  failed: 1,
  /** The command line cannot be read. */
  usage: 2,
  /** `run --wait`: items of the run failed. */
  unresolved: 2,
  /** `run --wait`: the run was stopped. */
  stopped: 3,
  /** `run`: none was started. */
  notStarted: 4
} as const

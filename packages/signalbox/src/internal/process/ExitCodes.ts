/** Exit codes of commands; the README has the same table. A stop by signal is a success. */
export const exitCodes = {
  /** Any other failure, also a wait that ended before the run. */
  failed: 1,
  /** The command line cannot be read. */
  usage: 2,
  /** `flows check`: it could not be said whether executions fit. */
  unchecked: 2,
  /** `run --wait`: items of the run failed. */
  unresolved: 2,
  /** `run --wait`: the run was stopped; `worker start --once`: the step run was. */
  stopped: 3,
  /** `import`: something could not be had, or differs and was left alone. */
  incomplete: 3,
  /** `run`: none was started; `worker start --once`: no step run was taken. */
  notStarted: 4,
  /** `worker start --once`: the step run failed. */
  stepRunFailed: 5
} as const

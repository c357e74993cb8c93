/** What the control room has, for `signalbox apply workspace.ts`: each process, and exports such as `schedules` and `alerts`. */
export { greetings } from "./process.ts"

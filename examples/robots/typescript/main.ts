/**
 * The tasks as a program on local files: `node main.ts read-orders`, `node main.ts make-invoice`.
 */
import * as Program from "@signalbox/worker/Program"
import { tasks } from "./tasks.ts"

Program.run(tasks).pipe(Program.main)

/**
 * The program of the package: `node robot.mjs read-orders`, `node robot.mjs make-invoice`.
 */
import * as Program from "@signalbox/worker/Program"
import { makeInvoice, readOrders } from "./tasks.ts"

Program.run([readOrders, makeInvoice]).pipe(Program.main)

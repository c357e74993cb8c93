/**
 * A room with so many items, on the folder of the first argument or the Postgres of the second: each task is one operation, whose time is that
 * of a median call.
 */
import { serve } from "../harness/Program.ts"
import { median } from "../harness/Statistics.ts"
import type { Measured } from "../harness/Suite.ts"
import * as Grown from "./support/Grown.ts"
import type { Task } from "./support/ItemOperations.ts"

const [folder = ".", url = "", rows = "0"] = process.argv.slice(2)
const { calls, close } = await Grown.open(folder, url === "" ? null : url, Number(rows))

serve(
  async ({ calls: count, operation }: Task): Promise<Measured> => {
    // What an operation does once, such as to walk to where it reads, is not measured.
    await calls[operation]()
    return { millis: median(await Grown.timesOf(calls[operation], count)) }
  },
  { close }
)

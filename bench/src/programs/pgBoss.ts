/** Jobs of pg-boss, on the Postgres of the first argument. */
import { PgBoss } from "pg-boss"
import { serve } from "../harness/Program.ts"
import { counting, outputOf, payload, type Work } from "./support/Work.ts"

const boss = new PgBoss(process.argv[2] ?? "")
boss.on("error", (error: unknown) => console.error(error))
await boss.start()
await boss.createQueue("work")
await boss.createQueue("output")

const rate = async ({ items, kind, options }: Work) => {
  for (let n = 0; n < items; n += 1000) {
    const some = Array.from({ length: Math.min(1000, items - n) }, (_, index) => ({ data: payload(n + index) }))
    await boss.insert("work", some)
  }
  await boss.getDb().executeSql("ANALYZE", [])
  // There is no next batch to count the last one.
  const counter = counting(items - Number(options?.["batchSize"] ?? 1))
  // A job is complete when the handler of its batch has returned and the row is written: counted when the next batch comes.
  let reserved = 0
  await boss.work("work", options ?? {}, async (jobs: ReadonlyArray<{ readonly data: { readonly order: number } }>) => {
    counter.begin()
    counter.completed(reserved)
    reserved = jobs.length
    if (kind === "output")
      await boss.insert(
        "output",
        jobs.map(({ data }) => ({ data: outputOf(data) }))
      )
  })
  await counter.finished
  const measured = counter.measured()
  await boss.offWork("work")
  await boss.getDb().executeSql("DELETE FROM pgboss.job", [])
  return measured
}

serve(rate)

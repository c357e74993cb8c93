/** A worker of graphile-worker or of pg-boss, as the first argument says, on the Postgres of the second, with nothing to do. */
import { Logger, run } from "graphile-worker"
import { PgBoss } from "pg-boss"
import { serve } from "../harness/Program.ts"

const [who = "", url = ""] = process.argv.slice(2)

const peers: Readonly<Record<string, () => Promise<unknown>>> = {
  graphile: () =>
    run({
      connectionString: url,
      logger: new Logger(() => () => {}),
      noHandleSignals: true,
      taskList: { idle: () => Promise.resolve() }
    }),
  pgBoss: async () => {
    const boss = new PgBoss(url)
    await boss.start()
    await boss.createQueue("idle")
    await boss.work("idle", () => Promise.resolve())
  }
}
await peers[who]?.()
serve(() => Promise.resolve(null))

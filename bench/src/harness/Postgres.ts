/**
 * Postgres servers of a suite: one whose commits wait for the disk, one whose commits never do; a database for each contender.
 */
import { type Server, startServer } from "@signalbox/testkit/Postgres"
import { Client } from "pg"

export type Fsync = "on" | "off"

/** How each is set, for the conditions of a row. */
export const fsyncOf: Readonly<Record<Fsync, string>> = {
  on: "Postgres 18, fsync on, synchronous_commit on (its defaults)",
  off: "Postgres 18, fsync, synchronous_commit and full_page_writes off (of the server)"
}

/** What a database has done so far. */
export interface Counts {
  readonly statements: number
  /** Transactions, those that only read too. */
  readonly commits?: number
  /** Waits for the disk, which concurrent transactions may share. */
  readonly syncs: number
  readonly walBytes: number
}

const using = async <A>(url: string, use: (client: Client) => Promise<A>): Promise<A> => {
  const client = new Client(url)
  client.on("error", () => {})
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

const start = async (fsync: Fsync): Promise<Server> => {
  const server = await startServer({ durable: fsync === "on" })
  // Statements are counted only in databases that ask for it.
  await using(server.url, async (client) => {
    await client.query("ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'")
    await client.query("ALTER SYSTEM SET pg_stat_statements.track = 'none'")
  })
  await server.stop()
  await server.start()
  return server
}

export const make = () => {
  const servers = new Map<Fsync, Promise<Server>>()
  let made = 0
  const serverOf = (fsync: Fsync) => {
    const running = servers.get(fsync) ?? start(fsync)
    servers.set(fsync, running)
    return running
  }
  return {
    /** A new, empty database. With `counted`, its statements are counted. */
    database: async (fsync: Fsync, { counted = false } = {}): Promise<string> => {
      const { url } = await serverOf(fsync)
      const name = `bench_${process.pid}_${made++}`
      await using(url, async (client) => {
        await client.query(`CREATE DATABASE ${name}`)
        if (counted) await client.query(`ALTER DATABASE ${name} SET pg_stat_statements.track = 'all'`)
      })
      const database = new URL(url)
      database.pathname = name
      if (counted) await using(database.href, (client) => client.query("CREATE EXTENSION pg_stat_statements"))
      return database.href
    },
    close: () => Promise.allSettled([...servers.values()].map(async (server) => (await server).remove()))
  }
}

/** What a counted database has done so far, without what asks for it; nothing else may write on its server meanwhile. */
export const counts = (url: string): Promise<Counts> =>
  using(url, async (client) => {
    // Statistics of a session are there a second after its transaction at the latest.
    await new Promise((resolve) => setTimeout(resolve, 1200))
    const { rows } = await client.query<Record<keyof Counts, string>>(`
      SELECT
        (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
          WHERE d.datname = current_database() AND toplevel) AS statements,
        (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits,
        (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal') AS syncs,
        pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS "walBytes"`)
    const [row] = rows
    return {
      statements: Number(row?.statements ?? 0),
      commits: Number(row?.commits ?? 0),
      syncs: Number(row?.syncs ?? 0),
      walBytes: Number(row?.walBytes ?? 0)
    }
  })

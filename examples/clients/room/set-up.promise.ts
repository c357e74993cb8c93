/** What a process needs before its first run. Safe to repeat, so a deployment runs it each time. */
import { connect, type ConnectionOptions } from "@signalbox/api/promise"

export const main = async (
  password: string,
  prices: Readonly<Record<string, number>>,
  options?: ConnectionOptions
) => {
  await using room = connect(options)
  await room.secrets.put("shop", { items: { user: "robot", password } })
  await room.assets.put(
    "prices",
    new File([JSON.stringify(prices)], "prices.json")
  )
  const process = await room.processes.put({
    name: "nightly",
    steps: [{ name: "price", task: { name: "price" } }]
  })
  const schedule = await room.schedules.put({
    name: "every night",
    process: { id: process.id },
    cron: "30 2 * * mon-fri",
    zone: "Europe/Copenhagen"
  })
  console.log(`runs next at ${schedule.next_at}`)
  return schedule.id
}

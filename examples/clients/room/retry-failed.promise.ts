/** Queues all failed items of a process again, page by page. */
import { connect, type ConnectionOptions } from "@signalbox/api/promise"

export const main = async (process: string, options?: ConnectionOptions) => {
  await using room = connect(options)
  const failed: Array<string> = []
  for await (const { id } of room.workItems.stream({
    process,
    state: "failed",
    limit: 2
  }))
    failed.push(id)
  await room.workItems.retry(failed)
  console.log(`${failed.length} items are tried again`)
  return failed.length
}

/** Two pages now, and those after them another time: `next` is kept, and given back as it came. */
import { connect, type ConnectionOptions } from "@signalbox/api/promise"

export const main = async (
  process: string,
  kept?: string,
  options?: ConnectionOptions
) => {
  await using room = connect(options)
  const first = await room.workItems.list({ process, limit: 2, cursor: kept })
  const second = await first.nextPage()
  const items = [...first.data, ...(second?.data ?? [])]
  for (const { id, state } of items) console.log(id, state)
  return { ids: items.map(({ id }) => id), later: second?.next ?? undefined }
}

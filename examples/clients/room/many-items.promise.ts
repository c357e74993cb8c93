/** A work item of each row; when the connection is lost on the way, it continues with the rows that are left. */
import {
  connect,
  type ConnectionOptions,
  PartlyCreated
} from "@signalbox/api/promise"

interface Row {
  readonly article: string
  readonly pieces: number
}

export const main = async (
  process: string,
  rows: ReadonlyArray<Row>,
  options?: ConnectionOptions
) => {
  await using room = connect(options)
  const ids: Array<string> = []
  while (ids.length < rows.length) {
    try {
      ids.push(
        ...(await room.workItems.createMany({
          process,
          payloads: rows.slice(ids.length)
        }))
      )
    } catch (error) {
      if (!(error instanceof PartlyCreated)) throw error
      console.error(error.message)
      ids.push(...error.ids)
    }
  }
  console.log(`${ids.length} items`)
  return ids
}

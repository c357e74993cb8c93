/** The message of a group: what differs between its items is marked, and its direction of writing ends with it. */
import * as text from "../../text/text.ts"
export const Pattern = ({ text: message }: { readonly text: string }) => (
  <bdi>
    {message.split("#").map((part, index) => (
      <>
        {index === 0 ? null : (
          <span class="varies" title={text.failures.varies}>
            #
          </span>
        )}
        {part}
      </>
    ))}
  </bdi>
)

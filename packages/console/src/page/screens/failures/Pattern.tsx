/** The message of a group: what differs between its items is marked, and its direction of writing ends with it. */
export const Pattern = ({ text }: { readonly text: string }) => (
  <bdi>
    {text.split("#").map((part, index) => (
      <>
        {index === 0 ? null : (
          <span class="varies" title="differs between the items">
            #
          </span>
        )}
        {part}
      </>
    ))}
  </bdi>
)

/** The message of a group: what differs between its items is marked. */
export const Pattern = ({ text }: { readonly text: string }) => (
  <>
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
  </>
)

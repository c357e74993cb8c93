/** A bound for ids by time: an index of ids is then one of times too. */

/** What the UUIDv7 of this millisecond, and of all later ones, are greater than, as text. */
export const firstIdOf = (millis: number): string => {
  const digits = millis.toString(16).padStart(12, "0")
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}

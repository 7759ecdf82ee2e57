// Lists and maps that a client sent without anything in them. They are stored, shown and owned like absent ones, so the values do not have
// them; but a few rules of the reference tell one from the other, and can ask here. What was stored never has any.

const names = Symbol('sent empty')

interface Marked {
  [names]?: readonly string[]
}

/** Notes it beside the members: copies by spreading keep it, and neither writers nor comparisons see it. */
export function markSentEmpty(struct: object, name: string): void {
  const marked = struct as Marked
  marked[names] = [...(marked[names] ?? []), name]
}

/** Whether this list or map of a struct was sent, and empty. */
export const isSentEmpty = (struct: object | undefined, name: string): boolean =>
  struct !== undefined && (struct as Marked)[names]?.includes(name) === true

/** Whether that is so of any list or map within a value. */
export function hasSentEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if ((value as Marked)[names] !== undefined) return true
  for (const name in value) if (hasSentEmpty((value as { readonly [name: string]: unknown })[name])) return true
  return false
}

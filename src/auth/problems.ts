// Several things that went wrong, in one text as the reference writes it.

/** Each once; several stand in brackets. Empty where nothing went wrong. */
export function aggregate(problems: readonly string[]): string {
  const distinct = [...new Set(problems)]
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : (distinct[0] ?? '')
}

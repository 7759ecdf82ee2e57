// Names that the server makes from a prefix.

const maxNameLength = 63
const suffixLength = 5

/** How often a generated name that is taken is drawn anew. */
export const maxNameAttempts = 8

export const generatedName = (prefix: string, randomSuffix: (length: number) => string): string =>
  prefix.slice(0, maxNameLength - suffixLength) + randomSuffix(suffixLength)

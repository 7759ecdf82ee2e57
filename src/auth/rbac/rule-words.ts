// The lists of words that rules are made of, and what stands in them for everything.

/** Long lists are looked up, and short ones gone through. */
export type Words = readonly string[] | Pick<ReadonlySet<string>, 'has'>
const mostGoneThrough = 16

/** Of a set: more are arranged in several. */
export const mostInOne = 4000

/** How many words are compared before others may have a turn: some tens of microseconds. */
export const wordsPerStep = 200

export const everything = '*'

export const wordsOf = (words: readonly string[]): Words => (words.length > mostGoneThrough ? new Set(words) : words)

/** The same in short steps, and of very many words: a set that grows arranges all that it has anew, which takes ten milliseconds for 100,000. */
export function* wordsInSteps(words: readonly string[]): Generator<undefined, Words, undefined> {
  if (words.length <= mostInOne) return wordsOf(words)
  const sets: ReadonlySet<string>[] = []
  for (let at = 0; at < words.length; at += mostInOne) {
    sets.push(new Set(words.slice(at, at + mostInOne)))
    yield
  }
  return { has: (word) => sets.some((set) => set.has(word)) }
}

export const has = (words: Words, word: string): boolean => ('has' in words ? words.has(word) : words.includes(word))
export const holds = (words: Words, word: string): boolean => has(words, word) || has(words, everything)

/** A star at the end stands for whatever begins so. */
export function matchesPath(pattern: string, path: string): boolean {
  if (pattern === path) return true
  if (!pattern.endsWith(everything)) return false
  let end = pattern.length - 1
  while (end > 0 && pattern[end - 1] === everything) end--
  return path.startsWith(pattern.slice(0, end))
}

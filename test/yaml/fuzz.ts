// Random documents and words for two readers of YAML, and where they do not agree.

import { randomFrom } from '../kit/seeded-random.js'
import { compare, type Verdict } from './differential.js'
import { mutate, randomDocument } from './generate.js'
import { compareWord, randomWord } from './scalars.js'

export interface Findings {
  readonly documents: number
  /** How many were read alike, refused by both, or read differently for each known reason. */
  readonly counts: ReadonlyMap<string, number>
  /** The texts that were read differently for no reason that is known. */
  readonly differences: readonly string[]
}

const mostDifferences = 20

/** Goes on as long as it is told to, or until there is enough to look at. */
export function fuzzYaml(seed: number, goesOn: (documents: number) => boolean): Findings {
  const random = randomFrom(seed)
  const counts = new Map<string, number>()
  const differences: string[] = []
  let documents = 0
  const note = (text: string, verdict: Verdict): void => {
    const key = verdict.kind === 'known' ? verdict.reason : verdict.kind
    counts.set(key, (counts.get(key) ?? 0) + 1)
    if (verdict.kind === 'different') differences.push(`${JSON.stringify(text)}: ours ${verdict.ours}, theirs ${verdict.theirs}`)
  }
  for (; goesOn(documents) && differences.length < mostDifferences; documents++) {
    const whole = randomDocument(random)
    const text = documents % 2 === 0 ? whole : mutate(random, whole)
    note(text, compare(text))
    const word = randomWord(random)
    note(word, compareWord(word))
  }
  return { documents, counts, differences }
}

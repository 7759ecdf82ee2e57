// Runs our YAML parser and the `yaml` package on random documents and scalars, and collects differences.

import { randomFrom } from '../kit/seeded-random.js'
import { compare, type Verdict } from './differential.js'
import { mutate, randomDocument } from './generate.js'
import { compareScalar, randomScalar } from './scalars.js'

interface Findings {
  readonly documents: number
  /** Number of documents that were read equally, rejected by both, or differ for a known reason. */
  readonly counts: ReadonlyMap<string, number>
  /** Documents that differ without a known reason. */
  readonly differences: readonly string[]
}

const maxDifferences = 20

/** Runs while `shouldContinue`, or until there are enough differences. */
export function fuzzYaml(seed: number, shouldContinue: (documents: number) => boolean): Findings {
  const random = randomFrom(seed)
  const counts = new Map<string, number>()
  const differences: string[] = []
  let documents = 0
  const record = (text: string, verdict: Verdict): void => {
    const key = verdict.kind === 'known' ? verdict.reason : verdict.kind
    counts.set(key, (counts.get(key) ?? 0) + 1)
    if (verdict.kind === 'different') differences.push(`${JSON.stringify(text)}: ours ${verdict.ours}, theirs ${verdict.theirs}`)
  }
  for (; shouldContinue(documents) && differences.length < maxDifferences; documents++) {
    const whole = randomDocument(random)
    const text = documents % 2 === 0 ? whole : mutate(random, whole)
    record(text, compare(text))
    const scalar = randomScalar(random)
    record(scalar, compareScalar(scalar))
  }
  return { documents, counts, differences }
}

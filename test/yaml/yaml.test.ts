// Our YAML parser against the `yaml` package: equal values, or a known reason for a difference. `npm run fuzz:yaml` runs longer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from './differential.js'
import { fuzzYaml } from './fuzz.js'
import { compareScalar } from './scalars.js'

const seed = 20_261_115
const documents = 1000

test('random documents and scalars are read equally', () => {
  const { counts, differences } = fuzzYaml(seed, (count) => count < documents)
  assert.deepEqual(differences, [])
  assert.ok((counts.get('same') ?? 0) > documents, `too few documents were read by both: ${counts.get('same')}`)
  assert.ok((counts.get('both refuse') ?? 0) > documents / 10)
})

test('a difference is detected', () => {
  assert.equal(compare('a: 1').kind, 'same')
  assert.equal(compare('a: [').kind, 'both refuse')
  assert.deepEqual(compare('a: !x 1'), { kind: 'known', reason: 'a tag' })
  assert.equal(compareScalar('1.5').kind, 'same')
  assert.equal(compareScalar('0o17').kind, 'known')
})

// Our YAML reader against the `yaml` package: what both take they read alike, and where one of them refuses the reason is a known one.
// `npm run fuzz:yaml` goes on for as long as one likes, with other seeds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from './differential.js'
import { fuzzYaml } from './fuzz.js'
import { compareWord } from './scalars.js'

const seed = 20_261_115
const documents = 3000

test('random documents and words are read alike', () => {
  const { counts, differences } = fuzzYaml(seed, (count) => count < documents)
  assert.deepEqual(differences, [])
  assert.ok((counts.get('same') ?? 0) > documents, `too few documents were read by both: ${counts.get('same')}`)
  assert.ok((counts.get('both refuse') ?? 0) > documents / 10)
})

test('a difference would be seen', () => {
  assert.equal(compare('a: 1').kind, 'same')
  assert.equal(compare('a: [').kind, 'both refuse')
  assert.deepEqual(compare('a: !x 1'), { kind: 'known', reason: 'a tag' })
  assert.equal(compareWord('1.5').kind, 'same')
  assert.equal(compareWord('0o17').kind, 'known')
})

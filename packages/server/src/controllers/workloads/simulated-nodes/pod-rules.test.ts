// Rules of the annotation `behaviour`: long ones and large expansions of aliases are not parsed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { podRulesOf } from './pod-rules.js'

const identity = identityOf('cluster')
const rulesOf = (text: string) => podRulesOf({ metadata: { annotations: { 'simulation.cluster.io/behaviour': text } } }, [], identity)

test('an annotation of a pod has rules as JSON or YAML, also with aliases', () => {
  assert.equal(rulesOf('{"exitCode": 1}').rules.length, 1)
  assert.equal(rulesOf('- &a {exitCode: 1, exits: 1}\n- *a\n').rules.length, 2)
})

for (const [title, text, problem] of [
  ['long', `log: [${'a,'.repeat(9000)}]`, /behaviour: must have at most 16384 characters/],
  ['aliases', `log: &a [${'x,'.repeat(100)}]\nexec: [${'*a,'.repeat(1000)}]`, /excessive aliasing/],
  ['deep', '['.repeat(16_000), /exceeded max depth/],
  ['rules', `[${'{},'.repeat(5000)}]`, /at most 100 rules/],
  ['prototype', '{"__proto__": {"exitCode": 1}}', /__proto__: unknown field/],
  ['long problem', `{"${'x'.repeat(10_000)}": 1}`, /^.{1,600}$/s],
] as const)
  test(`an annotation that is not valid has no effect: ${title}`, () => {
    const found = rulesOf(text)
    assert.deepEqual(found.rules, [])
    assert.match(found.problem ?? '', problem)
  })

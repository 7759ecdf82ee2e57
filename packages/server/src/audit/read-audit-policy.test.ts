// Policy files that are read, and those that are refused, in the words of the reference.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../api/identity.js'
import { readPolicy } from './read-policy.js'

const identity = identityOf('cluster')
const head = 'apiVersion: audit.cluster.io/v1\nkind: Policy\n'
const read = (text: string) => readPolicy(text, { identity, path: '/p.yaml' })

test('a policy, with a word about what it does not know', () => {
  const { policy, warnings } = read(`${head}omitStages: [RequestReceived]\nrules:\n- level: Metadata\n  bogus: 1\n`)
  assert.equal(policy.rules?.[0]?.level, 'Metadata')
  assert.deepEqual(warnings, ['unknown field "rules[0].bogus"'])
})

for (const { text, problem } of [
  { text: `${head}rules: []\n`, problem: 'loaded illegal policy with 0 rules' },
  {
    text: 'apiVersion: audit.cluster.io/v1beta1\nkind: Policy\n',
    problem: 'failed decoding: no kind "Policy" is registered for version "audit.cluster.io/v1beta1"',
  },
  { text: `${head}rules: [{}]\n`, problem: 'rules[0].level: Required value' },
  {
    text: `${head}rules: [{level: metadata}]\n`,
    problem: 'rules[0].level: Unsupported value: "metadata": supported values: "None", "Metadata", "Request", "RequestResponse"',
  },
  {
    text: `${head}rules: [{level: None, nonResourceURLs: ["/x"], resources: [{group: ""}]}]\n`,
    problem: 'rules[0].nonResourceURLs: Invalid value: []string{"/x"}: rules cannot apply to both regular resources and non-resource URLs',
  },
  {
    text: `${head}rules: [{level: None, nonResourceURLs: ["x"]}]\n`,
    problem: `rules[0].nonResourceURLs[0]: Invalid value: "x": non-resource URL rules must begin with a '/' character`,
  },
  {
    text: `${head}rules: [{level: None, nonResourceURLs: ["/a*b"]}]\n`,
    problem: `rules[0].nonResourceURLs[0]: Invalid value: "/a*b": non-resource URL wildcards '*' must be the final character of the rule`,
  },
  {
    text: `${head}rules: [{level: None, resources: [{group: "", resourceNames: [a]}]}]\n`,
    problem: 'rules[0].resources[0].resourceNames: Invalid value: []string{"a"}: using resourceNames requires at least one resource',
  },
  {
    text: `${head}omitStages: [Later]\nrules: [{level: None}]\n`,
    problem: 'omitStages[0]: Invalid value: "Later": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
  },
]) {
  test(problem, () => {
    assert.throws(() => read(text), { message: `loading audit policy file: ${problem}: from file /p.yaml` })
  })
}

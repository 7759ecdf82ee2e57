// Audit policy files: valid ones, and invalid ones with the messages of kube-apiserver.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { readPolicy } from './read-audit-policy.js'

const identity = identityOf('cluster')
const head = 'apiVersion: audit.cluster.io/v1\nkind: Policy\n'
const read = (text: string) => readPolicy(text, { identity, path: '/p.yaml' })

test('a valid policy, with warnings about unknown fields', () => {
  const { policy, warnings } = read(`${head}omitStages: [RequestReceived]\nrules:\n- level: Metadata\n  bogus: 1\n`)
  assert.equal(policy.rules?.[0]?.level, 'Metadata')
  assert.deepEqual(warnings, ['unknown field "rules[0].bogus"'])
})

test('an unknown stage of the whole policy is a warning', () => {
  const { warnings } = read(`${head}omitStages: [Later]\nrules: [{level: None}]\n`)
  const stages = 'RequestReceived,ResponseStarted,ResponseComplete,Panic'
  assert.deepEqual(warnings, [`omitStages[0]: Invalid value: "Later": allowed stages are ${stages}`])
})

test('the kind may be left out', () => {
  assert.equal(read('apiVersion: audit.cluster.io/v1\nrules: [{level: None}]\n').policy.rules?.length, 1)
})

for (const { text, problem } of [
  { text: `${head}rules: []\n`, problem: 'loaded illegal policy with 0 rules' },
  {
    text: 'kind: Policy\nrules: [{level: None}]\n',
    problem: 'unknown group version field audit.cluster.io/__internal, Kind=Policy in policy',
  },
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
    problem: 'rules[0].resources.resourceNames: Invalid value: []string{"a"}: using resourceNames requires at least one resource',
  },
  {
    text: `${head}rules: [{level: None, nonResourceURLs: [u], namespaces: [x], resources: [{group: apps/v1}], omitStages: [Never]}]\n`,
    problem: `[rules[0].nonResourceURLs[0]: Invalid value: "u": non-resource URL rules must begin with a '/' character, rules[0].resources.group: Invalid value: "apps/v1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), rules[0].omitStages[0]: Invalid value: "Never": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic, rules[0].nonResourceURLs: Invalid value: []string{"u"}: rules cannot apply to both regular resources and non-resource URLs]`,
  },
]) {
  test(`rejects a policy: ${problem}`, () => {
    assert.throws(() => read(text), { message: `loading audit policy file: ${problem}: from file /p.yaml` })
  })
}

// CEL rules and patterns on long strings: single steps that take hundreds of milliseconds run in a worker thread.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expectStatus, newNamespace, untilStatus } from '../../../../test/kit/fixtures.js'
import { workerSteps } from '../../../../test/kit/metrics-text.js'
import { randomFrom } from '../../../../test/kit/seeded-random.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'

let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({
    flags: ['--feature-gates=ValidatingAdmissionPolicy=true', '--runtime-config=api/alpha=true'],
  })
})
after(() => server.stop())

const definitionsPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
const random = randomFrom(11)
const longString = 'a'.repeat(400_000)
/** Random input: the states that a matcher of `pattern` passes through do not repeat, so caching states does not help. */
const mixed = Array.from({ length: 60_000 }, () => 'ab'[random.below(2)]).join('')
const pattern = '[ab]*a[ab]{200}[c-e]'

async function define(plural: string, text: object, validations: readonly object[]): Promise<string> {
  const group = 'texts.example.com'
  const kind = plural.replace(/^./, (char) => char.toUpperCase())
  const openAPIV3Schema = { type: 'object', properties: { text }, 'x-kubernetes-validations': validations }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
  const names = { plural, singular: plural, kind, listKind: `${kind}List` }
  const definition = { metadata: { name: `${plural}.${group}` }, spec: { group, scope: 'Cluster', names, versions } }
  expectStatus(await server.client.post(definitionsPath, definition), 201)
  const path = `/apis/${group}/v1/${plural}`
  await untilStatus(() => server.client.get(path), 200)
  return path
}

const post = (path: string, text: string): Promise<{ readonly status: number; readonly text: string }> => {
  const plural = path.split('/').at(-1) as string
  const kind = plural.replace(/^./, (char) => char.toUpperCase())
  return server.client.post(path, { apiVersion: 'texts.example.com/v1', kind, metadata: { name: 'one' }, text })
}

/** Kinds whose schema rejects the objects. */
const kinds: readonly { readonly text: string; readonly schema: object; readonly rule?: string; readonly message: RegExp }[] = [
  { text: longString, schema: { maxLength: 500_000 }, rule: 'self.text.findAll("a").size() == 1', message: /asked and refused/ },
  { text: mixed, schema: { maxLength: 500_000 }, rule: `self.text.matches("${pattern}")`, message: /asked and refused/ },
  { text: mixed, schema: { pattern }, message: /should match/ },
]

for (const [index, { text, schema, rule, message }] of kinds.entries())
  test(`${rule?.slice(0, 30) ?? 'a pattern'} does not block the event loop`, async () => {
    const path = await define(
      `rules${index}s`,
      { type: 'string', ...schema },
      rule === undefined ? [] : [{ rule, message: 'asked and refused' }],
    )
    const expectRejection = async (): Promise<void> => {
      const response = await post(path, text)
      assert.equal(response.status, 422, response.text.slice(0, 300))
      assert.match(response.text, message)
    }
    assert.ok((await workerSteps(server.client, expectRejection)) > 0)
  })

test('policies on long strings do not block the event loop', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const group = '/apis/admissionregistration.cluster.io/v1alpha1'
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
  const spec = {
    failurePolicy: 'Ignore',
    matchConstraints: { resourceRules },
    validations: [{ expression: `!has(object.data) || !has(object.data.text) || object.data.text.matches('${pattern}')` }],
  }
  expectStatus(await client.post(`${group}/validatingadmissionpolicies`, { metadata: { name: 'texts' }, spec }), 201)
  const bindingSpec = { policyName: 'texts', matchResources: { namespaceSelector: { matchLabels: { [metadataName]: namespace } } } }
  expectStatus(await client.post(`${group}/validatingadmissionpolicybindings`, { metadata: { name: 'texts' }, spec: bindingSpec }), 201)
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`
  const createWith = (text: string) => client.post(path, { metadata: { name: 'one' }, data: { text } })
  await untilStatus(() => createWith('short'), 422)
  assert.ok((await workerSteps(client, async () => assert.equal((await createWith(mixed)).status, 422))) > 0)
})

const metadataName = 'cluster.io/metadata.name'

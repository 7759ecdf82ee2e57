// Hostile requests that once blocked the server: each gets a small response with small headers, and the server is healthy afterwards.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ApiRequest } from '../kit/api-client.js'
import { configMapOf, configMaps, expectStatus } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'

let server: ServerProcess
before(async () => {
  server = await ServerProcess.start()
  expectStatus(await server.client.post(configMaps('default'), configMapOf('target', { data: { a: 'b' } })), 201)
  expectStatus(await server.client.post('/apis/apps/v1/namespaces/default/deployments', deployment), 201)
})
after(() => server.stop())

const deployment = {
  metadata: { name: 'target' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}

const maxResponseBytes = 1024 * 1024
const maxHeaderBytes = 40 * 1024

const create = `${configMaps('default')}?dryRun=All`
const target = `${configMaps('default', 'target')}?dryRun=All&fieldManager=other`
const roles = '/apis/rbac.authorization.cluster.io/v1/clusterroles'
const joined = (count: number, make: (index: number) => string, separator = ','): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(separator)
const named = (members: string): string => `{"metadata":{"name":"x"},${members}}`
const nestingOperations = joined(
  2000,
  (i) => `{"op":"add","path":"/x${i + 1}","value":{}},{"op":"move","from":"/x${i}","path":"/x${i + 1}/in"}`,
)
const manyFields = joined(40_000, (i) => `"k:{\\"name\\":\\"${(i * 7919) % 99_991}\\"}":{}`)
const entry = `{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{${manyFields}}}}`
const badSelector = { matchExpressions: [{ key: 'a', operator: 'In', values: Array.from({ length: 150_000 }, (_, i) => `-${i}`) }] }

type Finding = readonly [name: string, statuses: readonly number[], body: string, path?: string]

const posts: readonly Finding[] = [
  ['a name longer than a storage key', [422], `{"metadata":{"name":"${'x'.repeat(2000)}"}}`, roles],
  ['the longest name that fits a storage key', [201], `{"metadata":{"name":"${'x'.repeat(1840)}"}}`, roles],
  ['a member that repeats and grows', [201], named(joined(8000, (i) => `"data":{"k${i}":""}`))],
  [
    'a long name with members below',
    [201],
    named(`"data":{"a":"b","a":"c"},"${'x'.repeat(200_000)}":{${joined(20_000, (i) => `"k${i}":{}`)}}`),
  ],
  ['many keys and one duplicate', [201, 413, 422], named(`"data":{"a":"b","a":"c",${joined(150_000, (i) => `"k${i}":""`)}}`)],
  ['an integer of a million digits', [400], named(`"odd":${'7'.repeat(1_000_000)}`)],
  ['an unknown field with a name of megabytes', [201], named(`"${'x'.repeat(2_900_000)}":1`)],
  [
    'an unknown field with a name of megabytes, strict validation',
    [400],
    named(`"${'x'.repeat(2_900_000)}":1`),
    `${create}&fieldValidation=Strict`,
  ],
  [
    'thousands of bad values of a selector',
    [422],
    JSON.stringify({ metadata: { name: 'x' }, spec: { ...deployment.spec, selector: badSelector } }),
    '/apis/apps/v1/namespaces/default/deployments?dryRun=All',
  ],
]

const yamlPosts: readonly Finding[] = [
  ['a tag handle with a long prefix and many uses', [400], `%TAG !a! tag:${'x'.repeat(300_000)}\n---\n[${'!a!x 1,'.repeat(40_000)}]`],
  ['merge keys', [400], `a: &a {${joined(10_000, (i) => `k${i}: 1`)}}\nb: {${'<<: *a,'.repeat(10_000)}}`],
]

const patches: { readonly [type: string]: readonly Finding[] } = {
  'application/apply-patch+yaml': [
    [
      'an apiVersion that cannot be converted to a string',
      [400],
      '{"apiVersion":[{"toString":1}],"kind":"ConfigMap","metadata":{"name":"target"}}',
    ],
    ['a kind that cannot be converted to a string', [400], '{"apiVersion":"v1","kind":{"toString":1},"metadata":{"name":"target"}}'],
    ['thousands of conflicts', [409], `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"c",${joined(20_000, (i) => `"k${i}":""`)}}}`],
  ],
  'application/strategic-merge-patch+json': [
    ['thousands of finalizers', [200, 422], `{"metadata":{"finalizers":[${joined(10_000, (i) => `"example.com/f${i}"`)}]}}`],
  ],
  'application/json-patch+json': [
    ['operations that nest ever deeper', [400, 422], `[{"op":"add","path":"/x0","value":{}},${nestingOperations}]`],
  ],
  'application/merge-patch+json': [['thousands of managed fields', [200, 422], `{"metadata":{"managedFields":[${entry}]}}`]],
}

const accepts: readonly (readonly [name: string, accept: string])[] = [
  ['a q-value of zeros', `a/b;q=${'0'.repeat(12_000)}x`],
  ['many media types', 'a/b,'.repeat(3500)],
]

async function check(request: ApiRequest, statuses: readonly number[]): Promise<void> {
  const response = await server.client.send(request)
  assert.ok(statuses.includes(response.status), `${response.status}: ${response.text.slice(0, 500)}`)
  assert.ok(response.status < 400 || response.bytes.length <= maxResponseBytes, `an error of ${response.bytes.length} bytes`)
  const headerBytes = JSON.stringify(response.headers).length
  assert.ok(headerBytes <= maxHeaderBytes, `headers of ${headerBytes} bytes`)
}

const testBodies = (method: string, type: string, findings: readonly Finding[], defaultPath: string): void => {
  for (const [name, statuses, body, path = defaultPath] of findings)
    test(`${method} of ${type}: ${name}`, () => check({ method, path, headers: { 'content-type': type, accept: '*/*' }, body }, statuses))
}
testBodies('POST', 'application/json', posts, create)
testBodies('POST', 'application/yaml', yamlPosts, create)
for (const [type, findings] of Object.entries(patches)) testBodies('PATCH', type, findings, target)
for (const [name, accept] of accepts) test(`Accept: ${name}`, () => check({ method: 'GET', path: create, headers: { accept } }, [406]))

test('the server is healthy afterwards', async () => {
  expectStatus(await server.client.get(configMaps('default', 'target')), 200)
  assert.doesNotMatch(server.stdout + server.stderr, /internal error/)
})

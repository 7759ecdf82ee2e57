// What a hostile client once held the server with, sent to a whole server: each is answered within a bounded time, by a small answer with
// small headers, and the server is well afterwards.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
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

interface Finding {
  readonly name: string
  readonly method?: string
  readonly path: string
  readonly type?: string
  readonly accept?: string
  readonly body?: string
  readonly status: number | readonly number[]
}

/** Of the server's CPU, which a busy machine does not stretch: more than any of them takes, and much less than the worst of them took. */
const mostCpuMs = 4000
const mostAnswerBytes = 1024 * 1024
const mostHeaderBytes = 40 * 1024

const create = `${configMaps('default')}?dryRun=All`
const times = (count: number, make: (index: number) => string, separator = ','): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(separator)
const named = (members: string): string => `{"metadata":{"name":"x"},${members}}`
const deeper = times(2000, (i) => `{"op":"add","path":"/x${i + 1}","value":{}},{"op":"move","from":"/x${i}","path":"/x${i + 1}/in"}`)

const roles = '/apis/rbac.authorization.cluster.io/v1/clusterroles'

const findings: readonly Finding[] = [
  {
    name: 'a name for which there is no key',
    method: 'POST',
    path: roles,
    type: 'application/json',
    body: `{"metadata":{"name":"${'x'.repeat(2000)}"}}`,
    status: 422,
  },
  {
    name: 'a name for which there is one just so',
    method: 'POST',
    path: roles,
    type: 'application/json',
    body: `{"metadata":{"name":"${'x'.repeat(1840)}"}}`,
    status: 201,
  },
  {
    name: 'a version of a configuration that cannot be made a text',
    method: 'PATCH',
    path: `${configMaps('default', 'target')}?fieldManager=f`,
    type: 'application/apply-patch+yaml',
    body: '{"apiVersion":[{"toString":1}],"kind":"ConfigMap","metadata":{"name":"target"}}',
    status: 400,
  },
  {
    name: 'a kind of a configuration that cannot be made a text',
    method: 'PATCH',
    path: `${configMaps('default', 'target')}?fieldManager=f`,
    type: 'application/apply-patch+yaml',
    body: '{"apiVersion":"v1","kind":{"toString":1},"metadata":{"name":"target"}}',
    status: 400,
  },
  {
    name: 'a tag handle with a long prefix and many uses',
    method: 'POST',
    path: create,
    type: 'application/yaml',
    body: `%TAG !a! tag:${'x'.repeat(300_000)}\n---\n[${'!a!x 1,'.repeat(40_000)}]`,
    status: 400,
  },
  {
    name: 'merge keys',
    method: 'POST',
    path: create,
    type: 'application/yaml',
    body: `a: &a {${times(10_000, (i) => `k${i}: 1`)}}\nb: {${'<<: *a,'.repeat(10_000)}}`,
    status: 400,
  },
  { name: 'a weight of zeros', path: create, accept: `a/b;q=${'0'.repeat(12_000)}x`, status: 406 },
  { name: 'many clauses', path: create, accept: 'a/b,'.repeat(3500), status: 406 },
  {
    name: 'a member that repeats and grows',
    method: 'POST',
    path: create,
    body: `{"metadata":{"name":"x"},${times(8000, (i) => `"data":{"k${i}":""}`)}}`,
    status: 201,
  },
  {
    name: 'a long name with members below',
    method: 'POST',
    path: create,
    body: named(`"data":{"a":"b","a":"c"},"${'x'.repeat(200_000)}":{${times(20_000, (i) => `"k${i}":{}`)}}`),
    status: 201,
  },
  {
    name: 'many keys and one duplicate',
    method: 'POST',
    path: create,
    body: named(`"data":{"a":"b","a":"c",${times(150_000, (i) => `"k${i}":""`)}}`),
    status: [201, 413, 422],
  },
  { name: 'an integer of a million digits', method: 'POST', path: create, body: named(`"odd":${'7'.repeat(1_000_000)}`), status: 400 },
  {
    name: 'an unknown field with a name of megabytes',
    method: 'POST',
    path: create,
    body: named(`"${'x'.repeat(2_900_000)}":1`),
    status: 201,
  },
  {
    name: 'the same, strictly',
    method: 'POST',
    path: `${create}&fieldValidation=Strict`,
    body: named(`"${'x'.repeat(2_900_000)}":1`),
    status: 400,
  },
  {
    name: 'thousands of finalizers by a strategic merge patch',
    method: 'PATCH',
    path: `${configMaps('default', 'target')}?dryRun=All`,
    type: 'application/strategic-merge-patch+json',
    body: `{"metadata":{"finalizers":[${times(10_000, (i) => `"example.com/f${i}"`)}]}}`,
    status: [200, 422],
  },
  {
    name: 'a JSON patch that nests ever deeper',
    method: 'PATCH',
    path: `${configMaps('default', 'target')}?dryRun=All`,
    type: 'application/json-patch+json',
    body: `[{"op":"add","path":"/x0","value":{}},${deeper}]`,
    status: [400, 422],
  },
  {
    name: 'thousands of managed fields',
    method: 'PATCH',
    path: `${configMaps('default', 'target')}?dryRun=All`,
    type: 'application/merge-patch+json',
    body: `{"metadata":{"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{${times(40_000, (i) => `"k:{\\"name\\":\\"${(i * 7919) % 99_991}\\"}":{}`)}}}}]}}`,
    status: [200, 422],
  },
  {
    name: 'thousands of bad values of a selector',
    method: 'POST',
    path: '/apis/apps/v1/namespaces/default/deployments?dryRun=All',
    body: JSON.stringify({
      ...deployment,
      metadata: { name: 'x' },
      spec: {
        ...deployment.spec,
        selector: { matchExpressions: [{ key: 'a', operator: 'In', values: Array.from({ length: 150_000 }, (_, i) => `-${i}`) }] },
      },
    }),
    status: 422,
  },
  {
    name: 'thousands of conflicts',
    method: 'PATCH',
    path: `${configMaps('default', 'target')}?fieldManager=other&dryRun=All`,
    type: 'application/apply-patch+yaml',
    body: `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"c",${times(20_000, (i) => `"k${i}":""`)}}}`,
    status: 409,
  },
]

/** What a process has used so far; nothing where the system does not tell. */
function cpuMsOf(pid: number): number {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return 0
  const words = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(words[11]) + Number(words[12])) * 10
}

for (const { name, method = 'GET', path, type = 'application/json', accept = '*/*', body, status } of findings)
  test(`held by ${name}`, async () => {
    const cpuBefore = cpuMsOf(server.pid)
    const answer = await server.client.send({
      method,
      path,
      headers: { 'content-type': type, accept },
      ...(body === undefined ? {} : { body }),
    })
    const tookMs = cpuMsOf(server.pid) - cpuBefore
    assert.ok([status].flat().includes(answer.status), `${answer.status}: ${answer.text.slice(0, 500)}`)
    const isError = answer.status >= 400
    assert.ok(!isError || answer.bytes.length <= mostAnswerBytes, `an error of ${answer.bytes.length} bytes`)
    assert.ok(JSON.stringify(answer.headers).length <= mostHeaderBytes, `headers of ${JSON.stringify(answer.headers).length} bytes`)
    assert.ok(tookMs < mostCpuMs, `took ${tookMs.toFixed()} ms of CPU`)
  })

test('and the server is well', async () => {
  expectStatus(await server.client.get(configMaps('default', 'target')), 200)
  assert.doesNotMatch(server.stdout + server.stderr, /internal error/)
})

// server.explain: the error of a failed test shows what happened to its objects.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'

let server: EmbeddedServer
before(async () => {
  server = await startServer()
})
after(() => server.close({ immediately: true }))

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.fail('it did not throw'),
    (thrown: unknown) => thrown,
  )

test('explain returns the result of the work', async () => {
  assert.equal(await server.explain('configmaps/default/none', async () => 5), 5)
  assert.equal(await server.explain([], () => 6), 6)
})

test('the error gains requests, events and changes of the objects', async () => {
  const alice = server.as('alice', ['system:masters']).client
  await alice.core.v1.configMaps('default').create({ metadata: { name: 'total' }, data: { tea: '1' } })
  await alice.core.v1.configMaps('default').create({ metadata: { name: 'unrelated' } })
  const involvedObject = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'total' }
  await alice.core.v1
    .events('default')
    .create({ metadata: { name: 'e1' }, involvedObject, type: 'Warning', reason: 'TooLow', message: 'tea is low' })
  const original = new assert.AssertionError({ actual: 1, expected: 2, operator: 'strictEqual' })
  const before = original.message
  const thrown = await thrownBy(
    server.explain(['configmaps/default/total', 'trees/oak'], async () => {
      await alice.core.v1.configMaps('default').patch('total', { data: { tea: '0' } })
      throw original
    }),
  )
  assert.equal(thrown, original)
  assert.ok(original.message.startsWith(before))
  const report = original.message.slice(before.length)
  assert.match(
    report,
    /^\n\nconfigmaps\/default\/total\n {2}Requests:\n {4}.* alice create configmaps\/default\/total 201 .*\n {4}.* alice patch configmaps\/default\/total 200 .*\n/,
  )
  assert.match(report, /\n {2}Events:\n {4}Warning TooLow: tea is low\n/)
  assert.match(report, /\n {4}\d+ patch by alice\n {6}~ data\.tea: "1" -> "0"\n/)
  assert.match(report, /\nobject "trees\/oak": the server has no resource "trees"$/)
  assert.ok(!report.includes('unrelated'))
  assert.ok(inspect(original).includes('tea is low'), 'test runners print the stack')
})

test('a value that is no Error becomes the cause of one', async () => {
  const thrown = (await thrownBy(server.explain('namespaces/default', () => Promise.reject('oops')))) as Error
  assert.equal(thrown.cause, 'oops')
  assert.match(thrown.message, /^oops\n\nnamespaces\/default\n {2}Requests:\n/)
})

test('values of Secrets are hidden', async () => {
  const secrets = server.client.core.v1.secrets('default')
  await secrets.create({ metadata: { name: 'key' }, stringData: { password: 'horse' } })
  await secrets.patch('key', { stringData: { password: 'battery' } })
  const { message } = (await thrownBy(server.explain('secrets/default/key', () => Promise.reject(new Error('oops'))))) as Error
  assert.match(message, /\n {6}\+ data\.password: \(hidden\)\n/)
  assert.match(message, /\n {6}~ data\.password: \(hidden\) -> \(hidden\)$/)
  for (const value of ['horse', 'battery'])
    for (const encoding of ['utf8', 'base64'] as const) assert.ok(!message.includes(Buffer.from(value).toString(encoding)), message)
})

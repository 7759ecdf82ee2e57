// Garbage collection with objects of extension API servers: owners, lost watches, and wrong responses, which delete nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Scenario } from '../scenario.fixture.js'
import { FakeExtensionServer, group } from './remote-apiserver.fixture.js'

async function setUp() {
  const extension = new FakeExtensionServer()
  const scenario = await Scenario.open(extension)
  const wait = (ms = 5000): Promise<void> => scenario.timers.advance(ms)
  return { extension, scenario, wait }
}

test('a remote dependent is deleted with its local owner, with preconditions', async () => {
  const { extension, scenario, wait } = await setUp()
  await scenario.create({ name: 'a' })
  await scenario.create({ name: 'b' })
  await wait()
  extension.put('one', { ownerReferences: [scenario.referenceTo('a')] })
  extension.put('two', { ownerReferences: [scenario.referenceTo('a'), scenario.referenceTo('b')] })
  await wait()
  await scenario.remove('a')
  await wait()
  assert.deepEqual([...extension.gadgets.keys()], ['two'])
  assert.deepEqual(extension.gadgets.get('two')?.metadata['ownerReferences'], [scenario.referenceTo('b')])
  const [removed] = extension.writes.filter(({ method }) => method === 'DELETE')
  assert.deepEqual(
    [removed?.path, removed?.body['preconditions'], removed?.body['propagationPolicy']],
    [`/apis/${group}/v1/namespaces/n/gadgets/one`, { uid: 'gadget-one', resourceVersion: '2' }, 'Background'],
  )
  await scenario.stop()
})

test('a deletion during a lost watch is found by the next list', async () => {
  const { extension, scenario, wait } = await setUp()
  for (const name of ['x', 'y']) extension.put(name)
  await scenario.create({ name: 'of-x', owners: [extension.reference('x')] })
  await scenario.create({ name: 'of-y', owners: [extension.reference('y')] })
  await wait()
  assert.deepEqual(scenario.remaining, ['of-x', 'of-y'])
  extension.gadgets.delete('x')
  extension.breakWatch()
  await wait(10_000)
  assert.deepEqual(scenario.remaining, ['of-y'])
  await scenario.stop()
})

for (const { title, respond } of [
  { title: 'returns 500', respond: { status: 500, text: '{"kind":"Status","reason":"InternalError"}' } },
  { title: 'returns 404 for the path', respond: { status: 404, text: '404 page not found' } },
  { title: 'returns an invalid object', respond: { status: 200, text: '{"metadata":{"name":""}}' } },
  { title: 'returns HTML', respond: { status: 200, text: '<html>' } },
]) {
  test(`a dependent stays while the server of its owner ${title}`, async () => {
    const { extension, scenario, wait } = await setUp()
    extension.respond = ({ path }) => (path.endsWith('/missing') ? respond : undefined)
    await scenario.create({ name: 'in-doubt', owners: [extension.reference('missing')] })
    await scenario.create({ name: 'lost', owners: ['never'] })
    await wait(60_000)
    assert.deepEqual(scenario.remaining, ['in-doubt'])
    extension.respond = () => undefined
    await wait(120_000)
    assert.deepEqual(scenario.remaining, [])
    await scenario.stop()
  })
}

test('events about local uids and malformed events are ignored', async () => {
  const { extension, scenario, wait } = await setUp()
  await scenario.create({ name: 'a' })
  await scenario.create({ name: 'b', owners: ['a'] })
  const { uid } = scenario.referenceTo('a') as { readonly uid: string }
  extension.put('liar', { uid })
  await wait()
  extension.remove('liar')
  for (const line of ['[]', '{"type":"ADDED"}', '{"type":"ADDED","object":{"metadata":{"name":"a/b","uid":"u","namespace":"n"}}}', '']) {
    extension.emit(line)
    await wait()
  }
  assert.deepEqual(scenario.remaining, ['a', 'b'])
  assert.equal(extension.watching, 1, 'still watched')
  await scenario.stop()
})

test('without its APIService the objects are unknown, and their dependents stay', async () => {
  const { extension, scenario, wait } = await setUp()
  extension.put('x')
  await scenario.create({ name: 'a' })
  await scenario.create({ name: 'of-x', owners: [extension.reference('x')] })
  extension.put('of-a', { ownerReferences: [scenario.referenceTo('a')] })
  await wait()
  extension.register(undefined)
  await wait()
  assert.equal(extension.watching, 0)
  await scenario.remove('a')
  extension.gadgets.delete('x')
  await wait()
  assert.deepEqual(scenario.remaining, ['of-x'])
  extension.register({})
  await wait()
  assert.deepEqual(scenario.remaining, [])
  assert.deepEqual([...extension.gadgets.keys()], [])
  await scenario.stop()
  assert.deepEqual([scenario.timers.size, extension.watching], [0, 0])
})

test('an unavailable server is not called; work continues when it is available again', async () => {
  const { extension, scenario, wait } = await setUp()
  await scenario.create({ name: 'a' })
  extension.put('of-a', { ownerReferences: [scenario.referenceTo('a')] })
  await wait()
  extension.register({ isAvailable: false })
  await scenario.remove('a')
  await wait(600_000)
  assert.equal(extension.writes.length, 0)
  extension.register({})
  await wait()
  assert.equal(extension.gadgets.size, 0)
  await scenario.stop()
})

test('an endless list is aborted, and no object counts as deleted', async () => {
  const { extension, scenario, wait } = await setUp()
  extension.put('x')
  await scenario.create({ name: 'of-x', owners: [extension.reference('x')] })
  await wait()
  let lists = 0
  extension.respond = ({ path }) => {
    if (!path.includes('?limit=')) return undefined
    lists += 1
    return { status: 200, text: '{"metadata":{"resourceVersion":"9","continue":"again"},"items":[]}' }
  }
  extension.breakWatch()
  await wait(10_000)
  assert.ok(lists >= 2 && lists < 20, `${lists} pages in ten seconds`)
  assert.deepEqual(scenario.remaining, ['of-x'])
  await scenario.stop()
})

test('a server with too much owner data is not followed', async () => {
  const { extension, scenario, wait } = await setUp()
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'n'.repeat(3 << 20), uid: 'u' }]
  const object = (name: number) => ({ metadata: { name: `o${name}`, namespace: 'n', uid: `u${name}`, ownerReferences } })
  await wait()
  for (let i = 0; i < 30; i++) {
    extension.emit({ type: 'ADDED', object: object(i) })
    await wait(1)
  }
  assert.equal(extension.watching, 0, 'no longer watched')
  await scenario.stop()
})

// What other servers keep is followed, and nothing is deleted because of what they do not say, or say wrongly.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Theatre } from '../play.fixture.js'
import { FakeExtension, group } from './extension.fixture.js'

async function setUp() {
  const extension = new FakeExtension()
  const theatre = await Theatre.open(extension)
  const wait = (ms = 5000): Promise<void> => theatre.timers.advance(ms)
  return { extension, theatre, wait }
}

test('what it keeps goes with its owner here: as it was seen, and no other', async () => {
  const { extension, theatre, wait } = await setUp()
  await theatre.make({ name: 'a' })
  await theatre.make({ name: 'b' })
  await wait()
  extension.put('one', { ownerReferences: [theatre.refer('a')] })
  extension.put('two', { ownerReferences: [theatre.refer('a'), theatre.refer('b')] })
  await wait()
  await theatre.remove('a')
  await wait()
  assert.deepEqual([...extension.gadgets.keys()], ['two'])
  assert.deepEqual(extension.gadgets.get('two')?.metadata['ownerReferences'], [theatre.refer('b')])
  const [removed] = extension.written.filter(({ method }) => method === 'DELETE')
  assert.deepEqual(
    [removed?.path, removed?.body['preconditions'], removed?.body['propagationPolicy']],
    [`/apis/${group}/v1/namespaces/n/gadgets/one`, { uid: 'gadget-one', resourceVersion: '2' }, 'Background'],
  )
  await theatre.stop()
})

test('what was deleted while nobody told of it is found to be gone', async () => {
  const { extension, theatre, wait } = await setUp()
  for (const name of ['x', 'y']) extension.put(name)
  await theatre.make({ name: 'of-x', owners: [extension.reference('x')] })
  await theatre.make({ name: 'of-y', owners: [extension.reference('y')] })
  await wait()
  assert.deepEqual(theatre.left, ['of-x', 'of-y'])
  extension.gadgets.delete('x')
  extension.lose()
  await wait(10_000)
  assert.deepEqual(theatre.left, ['of-y'])
  await theatre.stop()
})

for (const { title, answer } of [
  { title: 'fails', answer: { status: 500, text: '{"kind":"Status","reason":"InternalError"}' } },
  { title: 'knows the path no more', answer: { status: 404, text: '404 page not found' } },
  { title: 'gives another object', answer: { status: 200, text: '{"metadata":{"name":""}}' } },
  { title: 'talks nonsense', answer: { status: 200, text: '<html>' } },
]) {
  test(`an owner stays in doubt as long as its server ${title}`, async () => {
    const { extension, theatre, wait } = await setUp()
    extension.answer = ({ path }) => (path.endsWith('/nobody') ? answer : undefined)
    await theatre.make({ name: 'in-doubt', owners: [extension.reference('nobody')] })
    await theatre.make({ name: 'lost', owners: ['never'] })
    await wait(60_000)
    assert.deepEqual(theatre.left, ['in-doubt'])
    extension.answer = () => undefined
    await wait(120_000)
    assert.deepEqual(theatre.left, [])
    await theatre.stop()
  })
}

test('what it says of objects that are not its own is not believed', async () => {
  const { extension, theatre, wait } = await setUp()
  await theatre.make({ name: 'a' })
  await theatre.make({ name: 'b', owners: ['a'] })
  const { uid } = theatre.refer('a') as { readonly uid: string }
  extension.put('liar', { uid })
  await wait()
  extension.remove('liar')
  for (const line of ['[]', '{"type":"ADDED"}', '{"type":"ADDED","object":{"metadata":{"name":"a/b","uid":"u","namespace":"n"}}}', '']) {
    extension.tell(line)
    await wait()
  }
  assert.deepEqual(theatre.left, ['a', 'b'])
  assert.equal(extension.watching, 1, 'it is still followed')
  await theatre.stop()
})

test('when it is not registered any more, nobody knows of its objects, and what they own stays', async () => {
  const { extension, theatre, wait } = await setUp()
  extension.put('x')
  await theatre.make({ name: 'a' })
  await theatre.make({ name: 'of-x', owners: [extension.reference('x')] })
  extension.put('of-a', { ownerReferences: [theatre.refer('a')] })
  await wait()
  extension.register(undefined)
  await wait()
  assert.equal(extension.watching, 0)
  await theatre.remove('a')
  extension.gadgets.delete('x')
  await wait()
  assert.deepEqual(theatre.left, ['of-x'])
  extension.register({})
  await wait()
  assert.deepEqual(theatre.left, [])
  assert.deepEqual([...extension.gadgets.keys()], [])
  await theatre.stop()
  assert.deepEqual([theatre.timers.size, extension.watching], [0, 0])
})

test('one that is not available is not asked, and what waits for it goes on when it is back', async () => {
  const { extension, theatre, wait } = await setUp()
  await theatre.make({ name: 'a' })
  extension.put('of-a', { ownerReferences: [theatre.refer('a')] })
  await wait()
  extension.register({ isAvailable: false })
  await theatre.remove('a')
  await wait(600_000)
  assert.equal(extension.written.length, 0)
  extension.register({})
  await wait()
  assert.equal(extension.gadgets.size, 0)
  await theatre.stop()
})

test('a list that goes on with the same page again and again is given up for a while, and nothing is taken for gone', async () => {
  const { extension, theatre, wait } = await setUp()
  extension.put('x')
  await theatre.make({ name: 'of-x', owners: [extension.reference('x')] })
  await wait()
  let lists = 0
  extension.answer = ({ path }) => {
    if (!path.includes('?limit=')) return undefined
    lists += 1
    return { status: 200, text: '{"metadata":{"resourceVersion":"9","continue":"again"},"items":[]}' }
  }
  extension.lose()
  await wait(10_000)
  assert.ok(lists >= 2 && lists < 20, `${lists} pages in ten seconds`)
  assert.deepEqual(theatre.left, ['of-x'])
  await theatre.stop()
})

test('an object that names thousands of owners is compared with what it was in one go', async () => {
  const { extension, theatre, wait } = await setUp()
  const owners = Array.from({ length: 4000 }, (_, i) => ({ apiVersion: 'v1', kind: 'Nobody', name: 'n', uid: `uid-${i}` }))
  extension.put('one', { ownerReferences: owners })
  await wait()
  const { includes } = Array.prototype
  let looks = 0
  Array.prototype.includes = function (this: unknown[], ...given) {
    looks += 1
    return includes.apply(this, given)
  }
  try {
    extension.put('one', { ownerReferences: [...owners].reverse() })
    await wait(1)
  } finally {
    Array.prototype.includes = includes
  }
  assert.ok(looks < owners.length, `${looks} lists were searched`)
  await theatre.stop()
})

test('of servers that say more of owners than there is room for, no more is kept', async () => {
  const { extension, theatre, wait } = await setUp()
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'n'.repeat(3 << 20), uid: 'u' }]
  const object = (name: number) => ({ metadata: { name: `o${name}`, namespace: 'n', uid: `u${name}`, ownerReferences } })
  await wait()
  for (let i = 0; i < 30; i++) {
    extension.tell({ type: 'ADDED', object: object(i) })
    await wait(1)
  }
  assert.equal(extension.watching, 0, 'it is not followed any more')
  await theatre.stop()
})

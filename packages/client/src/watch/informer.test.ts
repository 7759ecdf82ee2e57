// Informers against a scripted source: sync, changes, errors, end.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { CredentialError, closedError, ProtocolError, StatusError } from '../errors.js'
import { Informer } from './informer.js'
import { backOff, bookmark, event, expired, listOf, ScriptedSource, type Thing, thing } from './scripted-source.fixture.js'

describe('informer', () => {
  test('until() over many changes has one abort listener and removes it', async () => {
    const items = Array.from({ length: 30 }, (_, i) => ({ events: [event('ADDED', thing(`t${i}`, i + 2))] }))
    const source = new ScriptedSource([{ metadata: { resourceVersion: '1' }, items: [] }], items)
    const informer = new Informer<Thing>(source, { backOff: { firstMs: 1, maxMs: 1 } })
    const { signal } = new AbortController()
    let maxListeners = 0
    await informer.until((store) => {
      maxListeners = Math.max(maxListeners, getEventListeners(signal, 'abort').length)
      return store.get('t29') !== undefined
    }, signal)
    assert.deepEqual([maxListeners, getEventListeners(signal, 'abort').length], [1, 0])
    informer.close()
  })

  test('notifies listeners of changes after the store and its indexes have them', async () => {
    const source = new ScriptedSource(
      [
        listOf(5, thing('a', 1, { size: 1 }), thing('b', 2, { size: 2 })),
        listOf(60, thing('a', 1, { size: 1 }), thing('b', 30, { uid: 'another', size: 2 })),
      ],
      [
        { events: [event('MODIFIED', thing('b', 6, { size: 1 })), event('ADDED', thing('c', 7, { size: 7 })), bookmark(9)] },
        { events: [event('MODIFIED', thing('b', 6, { size: 1 }))], failure: expired },
      ],
    )
    const informer = new Informer(source, { backOff, indexes: { size: ({ size }) => String(size) } })
    const changes: string[] = []
    informer.onChange(({ type, object, old }) => {
      const name = object.metadata?.name ?? ''
      assert.equal(informer.get(name) === object, type !== 'delete')
      changes.push(`${type} ${name}${old?.size === undefined ? '' : ` was ${old.size}`}`)
    })
    await informer.ready
    assert.equal(informer.list().length, 2)
    await informer.until((store) => store.get('b')?.metadata?.uid === 'another')
    assert.deepEqual(changes, ['add a', 'add b', 'update b was 2', 'add c', 'delete b was 1', 'delete c was 7', 'add b'])
    assert.deepEqual(
      informer.byIndex('size', '2').map(({ metadata }) => metadata?.name),
      ['b'],
    )
    assert.deepEqual(informer.byIndex('size', '7'), [])
    assert.deepEqual([...informer.store.indexValues('size')], ['1', '2'])
    assert.throws(() => informer.byIndex('none', ''), /unknown index "none"/)
    assert.equal(informer.resourceVersion, '60')
    const replayed: string[] = []
    informer.onChange(({ object }) => replayed.push(object.metadata?.name ?? ''), { replay: true })
    assert.deepEqual(replayed, ['a', 'b'])
    informer.close()
    await informer.ended
  })

  test('a listener with replay that is added during notification gets every object once', async () => {
    const source = new ScriptedSource([listOf(5, thing('a', 1), thing('b', 2))], [{ events: [event('ADDED', thing('c', 6))] }])
    const informer = new Informer(source, { backOff })
    const lateNames: string[] = []
    const allNames: string[] = []
    let hasAddedLate = false
    informer.onChange(({ object }) => {
      allNames.push(object.metadata?.name ?? '')
      if (hasAddedLate) return
      hasAddedLate = true
      informer.onChange((change) => lateNames.push(change.object.metadata?.name ?? ''), { replay: true })
    })
    await informer.until((store) => store.get('c') !== undefined)
    assert.deepEqual(allNames, ['a', 'b', 'c'])
    assert.deepEqual(lateNames, ['a', 'b', 'c'])
    informer.close()
  })

  test('transform may drop the metadata of objects', async () => {
    const source = new ScriptedSource(
      [listOf(5, thing('a', 1, { size: 1 }), thing('b', 2, { size: 2 })), listOf(50, thing('a', 6, { size: 2 }))],
      [{ events: [event('MODIFIED', thing('a', 6, { size: 2 })), event('MODIFIED', thing('a', 6, { size: 3 }))], failure: expired }],
    )
    const changes: string[] = []
    const informer = new Informer(source, { backOff, transform: ({ size }): Thing => ({ size: size ?? 0 }) })
    informer.onChange(({ type, object, old }) => changes.push(`${type} ${object.size} ${old?.size ?? ''}`))
    await informer.until(() => informer.resourceVersion === '50')
    assert.deepEqual(changes, ['add 1 ', 'add 2 ', 'update 2 1', 'delete 2 2'])
    assert.deepEqual([informer.get('a')?.size, informer.get('b')], [2, undefined])
    informer.close()
  })

  test('objects without resourceVersion are always updated', async () => {
    const withoutVersion = (size: number): Thing => ({ metadata: { name: 'a' }, size })
    const informer = new Informer(
      new ScriptedSource([listOf(5, withoutVersion(1))], [{ events: [event('MODIFIED', withoutVersion(2))] }]),
      { backOff },
    )
    await informer.until((store) => store.get('a')?.size === 2)
    informer.close()
  })

  test('a listener that throws does not stop other listeners', async () => {
    const errors: unknown[] = []
    const informer = new Informer(new ScriptedSource([listOf(5, thing('a', 1), thing('b', 2))], []), {
      onError: (error) => errors.push(error),
    })
    const seen: unknown[] = []
    informer.onChange(() => {
      throw new Error('mine')
    })
    informer.onChange(({ object }) => seen.push(object.metadata?.name))
    await informer.ready
    assert.deepEqual(seen, ['a', 'b'])
    assert.equal(errors.length, 2)
    informer.close()
  })

  test('CredentialError is retried before and after the first list', async () => {
    const failed = new CredentialError('the plugin failed')
    const source = new ScriptedSource([failed, listOf(5, thing('a', 1))], [failed, { events: [event('ADDED', thing('b', 6))] }])
    const errors: unknown[] = []
    const informer = new Informer(source, { backOff, onError: (error) => errors.push(error) })
    await informer.ready
    await informer.until((store) => store.size === 2)
    assert.deepEqual(errors, [failed, failed])
    assert.deepEqual(source.requests.slice(0, 4), ['list', 'list', 'watch 5', 'watch 5'])
    informer.close()
    await informer.ended
  })

  test('ready rejects with 403 of the first list, and after close()', async () => {
    const forbidden = new StatusError({ code: 403, reason: 'Forbidden' })
    const informer = new Informer(new ScriptedSource([forbidden], []))
    await assert.rejects(informer.ready, (error) => error === forbidden)
    await assert.rejects(informer.ended, (error) => error === forbidden)
    const closed = new Informer(new ScriptedSource([listOf(1)], []))
    closed.close()
    await assert.rejects(closed.ready, /closed before it was ready/)
  })
})

describe('synced informer', () => {
  test('retries all errors of the server and calls onError', async () => {
    const forbidden = new StatusError({ code: 403, reason: 'Forbidden' })
    const missing = new StatusError({ code: 404, reason: 'NotFound' })
    const source = new ScriptedSource(
      [listOf(1, thing('a', 1)), missing, listOf(9, thing('b', 8))],
      [forbidden, new ProtocolError('no JSON'), { events: [event('ADDED', thing('c', 2))] }, expired],
    )
    const changes: unknown[] = []
    const informer = new Informer<Thing>(source, { backOff, onError: (error) => changes.push(error) })
    await informer.until((store) => store.get('b') !== undefined)
    assert.deepEqual(
      changes.map((error) => (error instanceof StatusError ? error.code : (error as Error).name)),
      [403, 'ProtocolError', 410, 404],
    )
    assert.deepEqual(source.requests, ['list', 'watch 1', 'watch 1', 'watch 1', 'watch 2', 'list', 'list', 'watch 9'])
    informer.close()
    await informer.ended
  })

  test('ends with an error of an index function and wakes until()', async () => {
    const mistake = new TypeError('a mistake')
    const changes: unknown[] = []
    const informer = new Informer<Thing>(new ScriptedSource([listOf(1)], [{ events: [event('ADDED', thing('a', 2))] }]), {
      backOff,
      onError: (error) => changes.push(error),
      indexes: {
        any: () => {
          throw mistake
        },
      },
    })
    await informer.ready
    await assert.rejects(
      informer.until(() => false),
      /closed/,
    )
    await assert.rejects(informer.ended, (error) => error === mistake)
    assert.deepEqual(changes, [mistake])
  })

  test('ends when the client is closed', async () => {
    const closed = new Informer(new ScriptedSource([listOf(1)], [closedError()]))
    await closed.ended
    await closed.ready
  })

  test('get() defaults to the namespace of the informer', async () => {
    const inside = { metadata: { name: 'a', namespace: 'shop', uid: 'a', resourceVersion: '1' } }
    using informer = new Informer<Thing>(new ScriptedSource([listOf(1, inside)], []), {}, 'shop')
    await informer.ready
    assert.equal(informer.get('a'), inside)
    assert.equal(informer.get('a', 'other'), undefined)
  })
})

// Informers over everything that interrupts them, against a source that does as it is told.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { CredentialError, closedError, ProtocolError, StatusError } from './errors.js'
import { Informer } from './informer.js'
import { backOff, bookmark, event, gone, listOf, Script, type Thing, thing } from './scripted.fixture.js'

describe('an informer', () => {
  test('whoever waits through many changes leaves nothing behind', async () => {
    const items = Array.from({ length: 30 }, (_, i) => ({ events: [event('ADDED', thing(`t${i}`, i + 2))] }))
    const script = new Script([{ metadata: { resourceVersion: '1' }, items: [] }], items)
    const informer = new Informer<Thing>(script, { backOff: { firstMs: 1, mostMs: 1 } })
    const { signal } = new AbortController()
    let most = 0
    await informer.until((store) => {
      most = Math.max(most, getEventListeners(signal, 'abort').length)
      return store.get('t29') !== undefined
    }, signal)
    assert.deepEqual([most, getEventListeners(signal, 'abort').length], [1, 0])
    informer.close()
  })

  test('holds what there is, with indexes, and tells of changes once the store has them', async () => {
    const script = new Script(
      [
        listOf(5, thing('a', 1, { size: 1 }), thing('b', 2, { size: 2 })),
        listOf(60, thing('a', 1, { size: 1 }), thing('b', 30, { uid: 'another', size: 2 })),
      ],
      [
        { events: [event('MODIFIED', thing('b', 6, { size: 1 })), event('ADDED', thing('c', 7, { size: 7 })), bookmark(9)] },
        { events: [event('MODIFIED', thing('b', 6, { size: 1 }))], failure: gone },
      ],
    )
    const informer = new Informer(script, { backOff, indexes: { size: ({ size }) => String(size) } })
    const told: string[] = []
    informer.onChange(({ type, object, old }) => {
      const name = object.metadata?.name ?? ''
      assert.equal(informer.get(name) === object, type !== 'delete')
      told.push(`${type} ${name}${old?.size === undefined ? '' : ` was ${old.size}`}`)
    })
    await informer.ready
    assert.equal(informer.list().length, 2)
    await informer.until((store) => store.get('b')?.metadata?.uid === 'another')
    assert.deepEqual(told, ['add a', 'add b', 'update b was 2', 'add c', 'delete b was 1', 'delete c was 7', 'add b'])
    assert.deepEqual(
      informer.byIndex('size', '2').map(({ metadata }) => metadata?.name),
      ['b'],
    )
    assert.deepEqual(informer.byIndex('size', '7'), [])
    assert.deepEqual([...informer.store.indexValues('size')], ['1', '2'])
    assert.throws(() => informer.byIndex('none', ''), /there is no index "none"/)
    assert.equal(informer.resourceVersion, '60')
    const replayed: string[] = []
    informer.onChange(({ object }) => replayed.push(object.metadata?.name ?? ''), { replay: true })
    assert.deepEqual(replayed, ['a', 'b'])
    informer.close()
    await informer.ended
  })

  test('a listener that comes while others are told hears of everything once', async () => {
    const script = new Script([listOf(5, thing('a', 1), thing('b', 2))], [{ events: [event('ADDED', thing('c', 6))] }])
    const informer = new Informer(script, { backOff })
    const late: string[] = []
    const all: string[] = []
    let isThere = false
    informer.onChange(({ object }) => {
      all.push(object.metadata?.name ?? '')
      if (isThere) return
      isThere = true
      informer.onChange((change) => late.push(change.object.metadata?.name ?? ''), { replay: true })
    })
    await informer.until((store) => store.get('c') !== undefined)
    assert.deepEqual(all, ['a', 'b', 'c'])
    assert.deepEqual(late, ['a', 'b', 'c'])
    informer.close()
  })

  test('what is kept of an object need not tell one from another', async () => {
    const script = new Script(
      [listOf(5, thing('a', 1, { size: 1 }), thing('b', 2, { size: 2 })), listOf(50, thing('a', 6, { size: 2 }))],
      [{ events: [event('MODIFIED', thing('a', 6, { size: 2 })), event('MODIFIED', thing('a', 6, { size: 3 }))], failure: gone }],
    )
    const told: string[] = []
    const informer = new Informer(script, { backOff, transform: ({ size }): Thing => ({ size: size ?? 0 }) })
    informer.onChange(({ type, object, old }) => told.push(`${type} ${object.size} ${old?.size ?? ''}`))
    await informer.until(() => informer.resourceVersion === '50')
    assert.deepEqual(told, ['add 1 ', 'add 2 ', 'update 2 1', 'delete 2 2'])
    assert.deepEqual([informer.get('a')?.size, informer.get('b')], [2, undefined])
    informer.close()
  })

  test('objects without versions are taken as they come', async () => {
    const plain = (size: number): Thing => ({ metadata: { name: 'a' }, size })
    const informer = new Informer(new Script([listOf(5, plain(1))], [{ events: [event('MODIFIED', plain(2))] }]), { backOff })
    await informer.until((store) => store.get('a')?.size === 2)
    informer.close()
  })

  test('a listener that throws keeps nobody from anything', async () => {
    const errors: unknown[] = []
    const informer = new Informer(new Script([listOf(5, thing('a', 1), thing('b', 2))], []), { onError: (error) => errors.push(error) })
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

  test('a credential that was not given is asked for again, at the beginning and later', async () => {
    const failed = new CredentialError('the plugin failed')
    const script = new Script([failed, listOf(5, thing('a', 1))], [failed, { events: [event('ADDED', thing('b', 6))] }])
    const errors: unknown[] = []
    const informer = new Informer(script, { backOff, onError: (error) => errors.push(error) })
    await informer.ready
    await informer.until((store) => store.size === 2)
    assert.deepEqual(errors, [failed, failed])
    assert.deepEqual(script.asked.slice(0, 4), ['list', 'list', 'watch 5', 'watch 5'])
    informer.close()
    await informer.ended
  })

  test('that can never begin says why', async () => {
    const forbidden = new StatusError({ code: 403, reason: 'Forbidden' })
    const informer = new Informer(new Script([forbidden], []))
    await assert.rejects(informer.ready, (error) => error === forbidden)
    await assert.rejects(informer.ended, (error) => error === forbidden)
    const closed = new Informer(new Script([listOf(1)], []))
    closed.close()
    await assert.rejects(closed.ready, /closed before it was ready/)
  })
})

describe('an informer that has begun', () => {
  test('goes on trying whatever the server says, and tells of it', async () => {
    const forbidden = new StatusError({ code: 403, reason: 'Forbidden' })
    const missing = new StatusError({ code: 404, reason: 'NotFound' })
    const script = new Script(
      [listOf(1, thing('a', 1)), missing, listOf(9, thing('b', 8))],
      [forbidden, new ProtocolError('no JSON'), { events: [event('ADDED', thing('c', 2))] }, gone],
    )
    const told: unknown[] = []
    const informer = new Informer<Thing>(script, { backOff, onError: (error) => told.push(error) })
    await informer.until((store) => store.get('b') !== undefined)
    assert.deepEqual(
      told.map((error) => (error instanceof StatusError ? error.code : (error as Error).name)),
      [403, 'ProtocolError', 410, 404],
    )
    assert.deepEqual(script.asked, ['list', 'watch 1', 'watch 1', 'watch 1', 'watch 2', 'list', 'list', 'watch 9'])
    informer.close()
    await informer.ended
  })

  test('ends with a mistake of the program, and leaves nobody waiting', async () => {
    const mistake = new TypeError('a mistake')
    const told: unknown[] = []
    const informer = new Informer<Thing>(new Script([listOf(1)], [{ events: [event('ADDED', thing('a', 2))] }]), {
      backOff,
      onError: (error) => told.push(error),
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
    assert.deepEqual(told, [mistake])
  })

  test('ends when its client is closed', async () => {
    const closed = new Informer(new Script([listOf(1)], [closedError()]))
    await closed.ended
    await closed.ready
  })

  test('knows its namespace', async () => {
    const inside = { metadata: { name: 'a', namespace: 'shop', uid: 'a', resourceVersion: '1' } }
    using informer = new Informer<Thing>(new Script([listOf(1, inside)], []), {}, 'shop')
    await informer.ready
    assert.equal(informer.get('a'), inside)
    assert.equal(informer.get('a', 'other'), undefined)
  })
})

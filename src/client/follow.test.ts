// Watches and informers over everything that interrupts them, against a source that does as it is told.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { ConnectionError, CredentialError, closedError, ProtocolError, StatusError } from './errors.js'
import { follow } from './follow.js'
import { Informer } from './informer.js'
import type { ApiObject, ObjectList, WatchEvent } from './objects.js'
import type { Watchable } from './reflect.js'
import { readEvents } from './watch-stream.js'

interface Thing extends ApiObject {
  readonly size?: number
}

const thing = (name: string, resourceVersion: number, more: { readonly uid?: string; readonly size?: number } = {}): Thing => ({
  metadata: { name, uid: more.uid ?? name, resourceVersion: String(resourceVersion) },
  ...(more.size === undefined ? {} : { size: more.size }),
})
const bookmark = (version: number): WatchEvent<Thing> => ({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } })
const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Thing): WatchEvent<Thing> => ({ type, object })
const gone = new StatusError({ code: 410, reason: 'Expired', message: 'too old' })
const broken = new ConnectionError('it broke')

/** What a watch gives: events, then an error or its end. */
interface Stretch {
  readonly events: readonly WatchEvent<Thing>[]
  readonly failure?: Error
}

/** Lists and watches in the order of a script; the last watch stays open. */
class Script implements Watchable<Thing> {
  readonly asked: string[] = []
  private readonly lists: (ObjectList<Thing> | Error)[]
  private readonly watches: (Stretch | Error)[]

  constructor(lists: readonly (ObjectList<Thing> | Error)[], watches: readonly (Stretch | Error)[]) {
    this.lists = [...lists]
    this.watches = [...watches]
  }

  async list(options: { readonly continue?: string }): Promise<ObjectList<Thing>> {
    this.asked.push(options.continue === undefined ? 'list' : `list ${options.continue}`)
    const next = this.lists.shift()
    if (next === undefined) throw new Error('nobody expected another list')
    if (next instanceof Error) throw next
    return next
  }

  async openWatch({ resourceVersion, signal }: { readonly resourceVersion?: string; readonly signal?: AbortSignal }) {
    signal?.throwIfAborted()
    this.asked.push(`watch ${resourceVersion}`)
    const next = this.watches.shift()
    if (next instanceof Error) throw next
    return play(next, signal)
  }
}

async function* play(stretch: Stretch | undefined, signal: AbortSignal | undefined): AsyncGenerator<readonly WatchEvent<Thing>[]> {
  if (stretch === undefined) {
    signal?.throwIfAborted()
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
    return
  }
  if (stretch.events.length > 0) yield stretch.events
  if (stretch.failure !== undefined) throw stretch.failure
}

const listOf = (version: number, ...items: readonly Thing[]): ObjectList<Thing> => ({
  metadata: { resourceVersion: String(version) },
  items,
})
const backOff = { firstMs: 1, mostMs: 5 }

async function take(count: number, events: AsyncIterable<WatchEvent<Thing>>): Promise<readonly string[]> {
  const seen: string[] = []
  for await (const { type, object } of events) {
    seen.push(`${type} ${object.metadata?.name ?? object.metadata?.resourceVersion}@${object.metadata?.resourceVersion ?? ''}`)
    if (seen.length === count) break
  }
  return seen
}

describe('a watch', () => {
  test('begins with what is there, and goes on where it was cut off', async () => {
    const script = new Script(
      [listOf(5, thing('a', 3))],
      [
        { events: [event('ADDED', thing('b', 6)), bookmark(9)] },
        broken,
        { events: [event('MODIFIED', thing('a', 11))], failure: broken },
        { events: [event('DELETED', thing('b', 12))] },
      ],
    )
    assert.deepEqual(await take(4, follow(script, { backOff })), ['ADDED a@3', 'ADDED b@6', 'MODIFIED a@11', 'DELETED b@12'])
    assert.deepEqual(script.asked, ['list', 'watch 5', 'watch 9', 'watch 9', 'watch 11'])
  })

  test('finds out by a list what it missed, when history is not kept', async () => {
    const script = new Script(
      [
        listOf(5, thing('a', 1), thing('b', 2), thing('c', 3), thing('d', 4)),
        listOf(50, thing('a', 1), thing('b', 20), thing('d', 30, { uid: 'another' }), thing('e', 40)),
      ],
      [{ events: [], failure: gone }, { events: [event('ADDED', thing('f', 51))] }],
    )
    const errors: unknown[] = []
    const seen = await take(10, follow(script, { backOff, onError: (error) => errors.push(error) }))
    assert.deepEqual(seen, [
      'ADDED a@1',
      'ADDED b@2',
      'ADDED c@3',
      'ADDED d@4',
      'DELETED c@',
      'DELETED d@',
      'MODIFIED b@20',
      'ADDED d@30',
      'ADDED e@40',
      'ADDED f@51',
    ])
    assert.deepEqual(script.asked, ['list', 'watch 5', 'list', 'watch 50'])
    assert.deepEqual(errors, [gone])
  })

  test('since a list of the caller tells only what happened since', async () => {
    const since = listOf(7, thing('a', 3))
    const script = new Script([listOf(30, thing('b', 20))], [{ events: [event('ADDED', thing('b', 20))] }, gone])
    const seen = await take(2, follow(script, { since, backOff }))
    assert.deepEqual(seen, ['ADDED b@20', 'DELETED a@'])
    assert.deepEqual(script.asked, ['watch 7', 'watch 20', 'list'])
  })

  test('from a version alone ends when that is gone: what was there then is not known', async () => {
    const script = new Script([listOf(30)], [gone])
    await assert.rejects(
      take(1, follow(script, { resourceVersion: '3', backOff })),
      (error) => error instanceof StatusError && error.code === 410,
    )
  })

  test('bookmarks are told to those who ask', async () => {
    const script = new Script([listOf(5)], [{ events: [bookmark(9)] }])
    assert.deepEqual(await take(1, follow(script, { backOff, bookmarks: true })), ['BOOKMARK 9@9'])
  })

  test('a list comes in pages, and one that expires begins anew', async () => {
    const first = { ...listOf(5, thing('a', 1)), metadata: { resourceVersion: '5', continue: 'more' } }
    const script = new Script([first, gone, first, listOf(5, thing('b', 2))], [{ events: [] }])
    assert.deepEqual(await take(2, follow(script, { backOff })), ['ADDED a@1', 'ADDED b@2'])
    assert.deepEqual(script.asked, ['list', 'list more', 'list', 'list more'])
  })

  test('what will not get better is thrown', async () => {
    const forbidden = new StatusError({ code: 403, reason: 'Forbidden', message: 'no' })
    await assert.rejects(take(1, follow(new Script([forbidden], []), { backOff })), (error) => error === forbidden)
    const script = new Script([new StatusError({ code: 503 }), new StatusError({ code: 429 }), listOf(1, thing('a', 1))], [])
    assert.deepEqual(await take(1, follow(script, { backOff })), ['ADDED a@1'])
  })

  test('ends when the caller has enough', async () => {
    const controller = new AbortController()
    const watching = take(9, follow(new Script([listOf(1, thing('a', 1))], []), { backOff, signal: controller.signal }))
    setTimeout(() => controller.abort(), 20)
    assert.deepEqual(await watching, ['ADDED a@1'])
  })
})

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

describe('the lines of a watch', () => {
  async function read(...chunks: readonly string[]): Promise<readonly unknown[]> {
    const batches: unknown[] = []
    async function* all(): AsyncGenerator<Uint8Array> {
      for (const chunk of chunks) yield new TextEncoder().encode(chunk)
    }
    for await (const events of readEvents(all())) batches.push(events.map(({ type }) => type))
    return batches
  }

  test('are read wherever they are cut', async () => {
    const line = '{"type":"ADDED","object":{"a":"x\\ny"}}\n'
    for (let cut = 1; cut < line.length; cut++)
      assert.deepEqual((await read(line.slice(0, cut), line.slice(cut) + line)).flat(), ['ADDED', 'ADDED'])
    assert.deepEqual(await read(line + line, line.slice(0, 5)), [['ADDED', 'ADDED']])
  })

  test('an error comes after the events before it', async () => {
    const text = '{"type":"ADDED","object":{}}\n{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n'
    const seen: unknown[] = []
    await assert.rejects(
      (async () => {
        async function* all(): AsyncGenerator<Uint8Array> {
          yield new TextEncoder().encode(text)
        }
        for await (const events of readEvents(all())) seen.push(...events)
      })(),
      (error) => error instanceof StatusError && error.code === 410,
    )
    assert.equal(seen.length, 1)
    await assert.rejects(read('{"type":\n'), /no JSON/)
  })

  test('that are no events are told by the line', async () => {
    const line = '{"type":"ADDED","object":{}}\n'
    await assert.rejects(read(`${line}{"type":"MOD\n${line}`), /no JSON: \{"type":"MOD$/)
    await assert.rejects(read(`${line}\n${line}`), /no JSON: $/)
    // Neither two events in one line nor one in two, however they look when they are put together.
    await assert.rejects(read(`${line}${line.trim()},${line}`), /no JSON: \{.*\},\{/)
    await assert.rejects(read('{"type":"ADDED","object":{"a":[1\n2]}}\n'), /no JSON: \{"type":"ADDED","object":\{"a":\[1$/)
    await assert.rejects(read(`{"a":"${'x'.repeat(5000)}\n`), (error: Error) => error.message.length < 300)
  })
})

// Watches over everything that interrupts them, against a source that does as it is told.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { StatusError } from './errors.js'
import { follow } from './follow.js'
import type { WatchEvent } from './objects.js'
import { backOff, bookmark, broken, event, gone, listOf, Script, type Thing, thing, tooLarge } from './scripted.fixture.js'
import { readEvents } from './watch-stream.js'

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

  test('from a version that the server never had ends with its error; who has a list finds out by another', async () => {
    const script = new Script([], [tooLarge])
    await assert.rejects(
      follow(script, { resourceVersion: '99', backOff }).each(() => undefined),
      (error) => error === tooLarge,
    )
    assert.deepEqual(script.asked, ['watch 99'])
    const restored = new Script([listOf(5, thing('b', 4))], [tooLarge])
    const errors: unknown[] = []
    const since = listOf(99, thing('a', 98))
    const seen = await take(2, follow(restored, { since, backOff, onError: (error) => errors.push(error) }))
    assert.deepEqual([seen, restored.asked, errors], [['DELETED a@', 'ADDED b@4'], ['watch 99', 'list'], [tooLarge]])
  })

  test('from a version alone ends when that is gone: what was there then is not known', async () => {
    const script = new Script([listOf(30)], [{ events: [event('ADDED', thing('b', 20))] }, gone])
    const seen: string[] = []
    await assert.rejects(
      follow(script, { resourceVersion: '3', backOff }).each(({ name }) => void seen.push(name)),
      (error) => error instanceof StatusError && error.code === 410,
    )
    // Nothing is listed for it, which would be all that there is.
    assert.deepEqual([seen, script.asked], [['b'], ['watch 3', 'watch 20']])
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

  test('whoever has enough while nothing comes need not wait for something, and leaves nothing behind', async () => {
    const controller = new AbortController()
    const events = follow(new Script([listOf(5)], []), { backOff, signal: controller.signal })
    const waiting = events.next()
    await new Promise((resolve) => setTimeout(resolve, 5))
    assert.deepEqual(await events.return?.(), { value: undefined, done: true })
    assert.deepEqual(await waiting, { value: undefined, done: true })
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })

  test('ends when the caller has enough', async () => {
    const controller = new AbortController()
    const watching = take(9, follow(new Script([listOf(1, thing('a', 1))], []), { backOff, signal: controller.signal }))
    setTimeout(() => controller.abort(), 20)
    assert.deepEqual(await watching, ['ADDED a@1'])
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

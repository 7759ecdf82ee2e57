// Resuming watch against a scripted source, and parsing of watch lines.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { StatusError } from '../errors.js'
import type { WatchEvent } from '../objects/objects.js'
import { resumingWatch } from './resuming-watch.js'
import {
  backOff,
  bookmark,
  broken,
  event,
  expired,
  listOf,
  ScriptedSource,
  type Thing,
  thing,
  tooLarge,
} from './scripted-source.fixture.js'
import { readEvents } from './watch-stream.js'

async function collect(count: number, events: AsyncIterable<WatchEvent<Thing>>): Promise<readonly string[]> {
  const seen: string[] = []
  for await (const { type, object } of events) {
    seen.push(`${type} ${object.metadata?.name ?? object.metadata?.resourceVersion}@${object.metadata?.resourceVersion ?? ''}`)
    if (seen.length === count) break
  }
  return seen
}

describe('resuming watch', () => {
  test('emits the existing objects and resumes from the last resourceVersion', async () => {
    const source = new ScriptedSource(
      [listOf(5, thing('a', 3))],
      [
        { events: [event('ADDED', thing('b', 6)), bookmark(9)] },
        broken,
        { events: [event('MODIFIED', thing('a', 11))], failure: broken },
        { events: [event('DELETED', thing('b', 12))] },
      ],
    )
    assert.deepEqual(await collect(4, resumingWatch(source, { backOff })), ['ADDED a@3', 'ADDED b@6', 'MODIFIED a@11', 'DELETED b@12'])
    assert.deepEqual(source.requests, ['list', 'watch 5', 'watch 9', 'watch 9', 'watch 11'])
  })

  test('lists again after 410 and emits the differences', async () => {
    const source = new ScriptedSource(
      [
        listOf(5, thing('a', 1), thing('b', 2), thing('c', 3), thing('d', 4)),
        listOf(50, thing('a', 1), thing('b', 20), thing('d', 30, { uid: 'another' }), thing('e', 40)),
      ],
      [{ events: [], failure: expired }, { events: [event('ADDED', thing('f', 51))] }],
    )
    const errors: unknown[] = []
    const seen = await collect(10, resumingWatch(source, { backOff, onError: (error) => errors.push(error) }))
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
    assert.deepEqual(source.requests, ['list', 'watch 5', 'list', 'watch 50'])
    assert.deepEqual(errors, [expired])
  })

  test('with since emits only changes after that list', async () => {
    const since = listOf(7, thing('a', 3))
    const source = new ScriptedSource([listOf(30, thing('b', 20))], [{ events: [event('ADDED', thing('b', 20))] }, expired])
    const seen = await collect(2, resumingWatch(source, { since, backOff }))
    assert.deepEqual(seen, ['ADDED b@20', 'DELETED a@'])
    assert.deepEqual(source.requests, ['watch 7', 'watch 20', 'list'])
  })

  test('504 ResourceVersionTooLarge is thrown with resourceVersion and leads to a new list with since', async () => {
    const source = new ScriptedSource([], [tooLarge])
    await assert.rejects(
      resumingWatch(source, { resourceVersion: '99', backOff }).each(() => undefined),
      (error) => error === tooLarge,
    )
    assert.deepEqual(source.requests, ['watch 99'])
    const restored = new ScriptedSource([listOf(5, thing('b', 4))], [tooLarge])
    const errors: unknown[] = []
    const since = listOf(99, thing('a', 98))
    const seen = await collect(2, resumingWatch(restored, { since, backOff, onError: (error) => errors.push(error) }))
    assert.deepEqual([seen, restored.requests, errors], [['DELETED a@', 'ADDED b@4'], ['watch 99', 'list'], [tooLarge]])
  })

  test('with resourceVersion throws 410', async () => {
    const source = new ScriptedSource([listOf(30)], [{ events: [event('ADDED', thing('b', 20))] }, expired])
    const seen: string[] = []
    await assert.rejects(
      resumingWatch(source, { resourceVersion: '3', backOff }).each(({ name }) => void seen.push(name)),
      (error) => error instanceof StatusError && error.code === 410,
    )
    // The watch sends no list, which would emit all objects as ADDED.
    assert.deepEqual([seen, source.requests], [['b'], ['watch 3', 'watch 20']])
  })

  test('emits bookmarks with bookmarks: true', async () => {
    const source = new ScriptedSource([listOf(5)], [{ events: [bookmark(9)] }])
    assert.deepEqual(await collect(1, resumingWatch(source, { backOff, bookmarks: true })), ['BOOKMARK 9@9'])
  })

  test('restarts a paged list whose continue token has expired', async () => {
    const first = { ...listOf(5, thing('a', 1)), metadata: { resourceVersion: '5', continue: 'more' } }
    const source = new ScriptedSource([first, expired, first, listOf(5, thing('b', 2))], [{ events: [] }])
    assert.deepEqual(await collect(2, resumingWatch(source, { backOff })), ['ADDED a@1', 'ADDED b@2'])
    assert.deepEqual(source.requests, ['list', 'list more', 'list', 'list more'])
  })

  test('throws 403; retries 503 and 429', async () => {
    const forbidden = new StatusError({ code: 403, reason: 'Forbidden', message: 'no' })
    await assert.rejects(collect(1, resumingWatch(new ScriptedSource([forbidden], []), { backOff })), (error) => error === forbidden)
    const source = new ScriptedSource([new StatusError({ code: 503 }), new StatusError({ code: 429 }), listOf(1, thing('a', 1))], [])
    assert.deepEqual(await collect(1, resumingWatch(source, { backOff })), ['ADDED a@1'])
  })

  test('return() resolves a pending next() and removes the abort listener', async () => {
    const controller = new AbortController()
    const events = resumingWatch(new ScriptedSource([listOf(5)], []), { backOff, signal: controller.signal })
    const waiting = events.next()
    await new Promise((resolve) => setTimeout(resolve, 5))
    assert.deepEqual(await events.return?.(), { value: undefined, done: true })
    assert.deepEqual(await waiting, { value: undefined, done: true })
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })

  test('ends when the signal is aborted', async () => {
    const controller = new AbortController()
    const watching = collect(9, resumingWatch(new ScriptedSource([listOf(1, thing('a', 1))], []), { backOff, signal: controller.signal }))
    setTimeout(() => controller.abort(), 20)
    assert.deepEqual(await watching, ['ADDED a@1'])
  })
})
describe('watch lines', () => {
  async function read(...chunks: readonly string[]): Promise<readonly unknown[]> {
    const batches: unknown[] = []
    async function* all(): AsyncGenerator<Uint8Array> {
      for (const chunk of chunks) yield new TextEncoder().encode(chunk)
    }
    for await (const events of readEvents(all())) batches.push(events.map(({ type }) => type))
    return batches
  }

  test('are parsed with chunks of any size', async () => {
    const line = '{"type":"ADDED","object":{"a":"x\\ny"}}\n'
    for (let cut = 1; cut < line.length; cut++)
      assert.deepEqual((await read(line.slice(0, cut), line.slice(cut) + line)).flat(), ['ADDED', 'ADDED'])
    assert.deepEqual(await read(line + line, line.slice(0, 5)), [['ADDED', 'ADDED']])
  })

  test('an ERROR event is thrown after the events before it', async () => {
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
    await assert.rejects(read('{"type":\n'), /not JSON/)
  })

  test('invalid lines are rejected with the beginning of the line', async () => {
    const line = '{"type":"ADDED","object":{}}\n'
    await assert.rejects(read(`${line}{"type":"MOD\n${line}`), /not JSON: \{"type":"MOD$/)
    await assert.rejects(read(`${line}\n${line}`), /not JSON: $/)
    // Two events in one line, and one event in two lines, are errors.
    await assert.rejects(read(`${line}${line.trim()},${line}`), /not JSON: \{.*\},\{/)
    await assert.rejects(read('{"type":"ADDED","object":{"a":[1\n2]}}\n'), /not JSON: \{"type":"ADDED","object":\{"a":\[1$/)
    await assert.rejects(read(`{"a":"${'x'.repeat(5000)}\n`), (error: Error) => error.message.length < 300)
  })
})

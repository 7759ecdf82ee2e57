// Watch events: metadata is read without parsing the object; invalid lines.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConnectionError, ProtocolError } from '../errors.js'
import type { ApiObject, ObjectList, WatchEvent } from '../objects/objects.js'
import { Informer } from './informer.js'
import type { Watchable } from './reflector.js'
import { backOff, listOf, type Thing } from './scripted-source.fixture.js'
import { readEvents } from './watch-stream.js'

type Line = { readonly type: string; readonly object: ApiObject & { readonly [name: string]: unknown } }

/** Line of a built-in kind. */
const builtInLine = (type: string, name: string, version: number, fields: object = {}): Line => ({
  type,
  object: {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace: 'shop', uid: `uid-of-${name}`, resourceVersion: String(version), labels: { a: 'ä€\n"}}' } },
    ...fields,
  },
})

/** Begins and ends like a valid line, but contains invalid JSON. */
const broken = JSON.stringify(builtInLine('MODIFIED', 'broken', 7)).replace('"labels":{', '"labels":{,')

async function* bytesOf(chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
}

async function read(...chunks: readonly (string | Uint8Array)[]): Promise<readonly WatchEvent<Thing>[]> {
  const all: WatchEvent<Thing>[] = []
  for await (const events of readEvents<Thing>(bytesOf(chunks))) all.push(...events)
  return all
}

async function readOne(line: string): Promise<WatchEvent<Thing>> {
  const [event] = await read(`${line}\n`)
  assert.ok(event !== undefined)
  return event
}

const isBroken = (error: unknown): boolean =>
  error instanceof ProtocolError && /an event of the watch is not JSON: \{"type":"MOD/.test(error.message)

describe('event', () => {
  const lines: { readonly [title: string]: Line } = {
    'of a built-in kind': builtInLine('MODIFIED', 'prices', 12),
    'with a long name': builtInLine('DELETED', 'a-name-that-is-longer-than-what-is-copied', 3),
    'with generateName': {
      type: 'ADDED',
      object: {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { name: 'web-x2', generateName: 'web-', namespace: 'shop', uid: 'u', resourceVersion: '9' },
      },
    },
    'of a cluster-scoped object': {
      type: 'ADDED',
      object: { kind: 'Node', apiVersion: 'v1', metadata: { name: 'one', uid: 'u', resourceVersion: '4' } },
    },
    'of a custom resource with sorted fields': {
      type: 'ADDED',
      object: {
        apiVersion: 'example.com/v1',
        kind: 'Ware',
        metadata: {
          creationTimestamp: '2026-01-01T00:00:00Z',
          name: 'nail',
          namespace: 'shop',
          resourceVersion: '5',
          uid: 'w',
        } as ApiObject['metadata'] & object,
      },
    },
    BOOKMARK: { type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '99' } } },
    'with escapes in its name': builtInLine('ADDED', 'a"b\\c\n', 6),
    'without metadata': { type: 'ADDED', object: { kind: 'Odd' } },
  }
  for (const [title, line] of Object.entries(lines)) {
    test(`${title}: metadata is the same before and after parsing the object`, async () => {
      const event = await readOne(JSON.stringify(line))
      const { metadata } = line.object
      const expected = [line.type, metadata?.name ?? '', metadata?.namespace ?? '', metadata?.uid ?? '', metadata?.resourceVersion ?? '']
      const head = (): readonly string[] => [event.type, event.name, event.namespace, event.uid, event.resourceVersion]
      assert.deepEqual(head(), expected)
      assert.deepEqual(event.object, line.object)
      assert.equal(event.object, event.object)
      assert.deepEqual(head(), expected)
    })
  }

  test('JSON.stringify and destructuring work like with a plain object', async () => {
    const line = builtInLine('ADDED', 'prices', 1)
    assert.deepEqual(JSON.parse(JSON.stringify(await read(`${JSON.stringify(line)}\n`))), [line])
    const { type, object } = await readOne(JSON.stringify(line))
    assert.deepEqual({ type, object }, line)
    // The compiler narrows the type of `object`.
    const sizeOf = (event: WatchEvent<Thing>): number | undefined => (event.type === 'BOOKMARK' ? undefined : event.object.size)
    assert.equal(sizeOf(await readOne(JSON.stringify(builtInLine('ADDED', 'a', 1, { size: 5 })))), 5)
  })

  test('an object with invalid JSON throws on each access', async () => {
    const event = await readOne(broken)
    assert.deepEqual([event.type, event.name, event.resourceVersion], ['MODIFIED', 'broken', '7'])
    for (let i = 0; i < 2; i++) assert.throws(() => event.object, isBroken)
    assert.throws(() => JSON.stringify(event), isBroken)
  })

  test('a line that is not an event is rejected at once', async () => {
    for (const line of ['5', 'null', '{"type":"ADDED"}', '{"object":{}}', '{"type":"ADDED","object":3}'])
      await assert.rejects(
        read(`${line}\n`),
        (error) => error instanceof ProtocolError && error.message === `a line of the watch is not an event: ${line}`,
      )
    // Truncated line.
    await assert.rejects(read(`${broken.slice(0, -3)}\n`), isBroken)
  })
})

describe('events of a watch', () => {
  const line = (i: number): string => `${JSON.stringify(builtInLine('MODIFIED', `ä-${i}`, i))}\n`

  test('are the same for all chunk boundaries, in Buffer and Uint8Array', async () => {
    const bytes = Buffer.from(line(1) + line(2) + line(3))
    const whole = JSON.stringify(await read(bytes))
    assert.equal(JSON.parse(whole).length, 3)
    for (let cut = 1; cut < bytes.length; cut += 7) {
      for (const chunk of [bytes, new Uint8Array(bytes)])
        assert.equal(JSON.stringify(await read(chunk.subarray(0, cut), chunk.subarray(cut))), whole)
    }
  })
})

/** Source with watches of raw bytes; the last watch stays open. */
class ByteSource implements Watchable<Thing> {
  readonly requests: string[] = []
  private readonly lists: ObjectList<Thing>[]
  private readonly watches: string[]

  constructor(lists: readonly ObjectList<Thing>[], watches: readonly string[]) {
    this.lists = [...lists]
    this.watches = [...watches]
  }

  async list(): Promise<ObjectList<Thing>> {
    return this.lists.shift() ?? listOf(1)
  }

  async openWatch({ resourceVersion, signal }: { readonly resourceVersion?: string; readonly signal?: AbortSignal }) {
    this.requests.push(resourceVersion ?? '')
    const next = this.watches.shift()
    return readEvents<Thing>(next === undefined ? openForever(signal) : bytesOf([next]))
  }
}

async function* openForever(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new ConnectionError('over')), { once: true }))
}

describe('informer', () => {
  test('retries the watch after an object with invalid JSON', async () => {
    const good = JSON.stringify(builtInLine('MODIFIED', 'broken', 7))
    const source = new ByteSource([listOf(3)], [`${broken}\n`, `${good}\n`])
    const errors: unknown[] = []
    const informer = new Informer<Thing>(source, { backOff, onError: (error) => errors.push(error) })
    await informer.until((store) => store.get('broken', 'shop') !== undefined)
    assert.equal(errors.length, 1)
    assert.ok(isBroken(errors[0]))
    assert.deepEqual(source.requests.slice(0, 2), ['3', '3'])
    informer.close()
  })
})

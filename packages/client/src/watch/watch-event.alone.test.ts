// Events of watches: what is known of them before their object is parsed, and when it is.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ConnectionError, ProtocolError } from './errors.js'
import { follow } from './follow.js'
import { Informer } from './informer.js'
import type { ApiObject, ObjectList, WatchEvent } from './objects.js'
import type { Watchable } from './reflect.js'
import { backOff, listOf, type Thing, thing } from './scripted.fixture.js'
import { readEvents } from './watch-stream.js'

type Line = { readonly type: string; readonly object: ApiObject & { readonly [name: string]: unknown } }

/** As servers write it for the kinds that they know. */
const usual = (type: string, name: string, version: number, more: object = {}): Line => ({
  type,
  object: {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace: 'shop', uid: `uid-of-${name}`, resourceVersion: String(version), labels: { a: 'ä€\n"}}' } },
    ...more,
  },
})

/** Begins and ends as usual, and is no JSON in between. */
const broken = JSON.stringify(usual('MODIFIED', 'broken', 7)).replace('"labels":{', '"labels":{,')

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
  error instanceof ProtocolError && /an event of the watch is no JSON: \{"type":"MOD/.test(error.message)

describe('an event', () => {
  const lines: { readonly [what: string]: Line } = {
    'as servers write it': usual('MODIFIED', 'prices', 12),
    'with a long name': usual('DELETED', 'a-name-that-is-longer-than-what-is-copied', 3),
    'of a generated name': {
      type: 'ADDED',
      object: {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { name: 'web-x2', generateName: 'web-', namespace: 'shop', uid: 'u', resourceVersion: '9' },
      },
    },
    'in no namespace': {
      type: 'ADDED',
      object: { kind: 'Node', apiVersion: 'v1', metadata: { name: 'one', uid: 'u', resourceVersion: '4' } },
    },
    'of a custom object, with sorted members': {
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
    'that is a bookmark': { type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '99' } } },
    'with escapes in its name': usual('ADDED', 'a"b\\c\n', 6),
    'without metadata': { type: 'ADDED', object: { kind: 'Odd' } },
  }
  for (const [what, line] of Object.entries(lines)) {
    test(`${what}: says the same before its object was read as after`, async () => {
      const event = await readOne(JSON.stringify(line))
      const { metadata } = line.object
      const head = [line.type, metadata?.name ?? '', metadata?.namespace ?? '', metadata?.uid ?? '', metadata?.resourceVersion ?? '']
      const said = (): readonly string[] => [event.type, event.name, event.namespace, event.uid, event.resourceVersion]
      assert.deepEqual(said(), head)
      assert.deepEqual(event.object, line.object)
      assert.equal(event.object, event.object)
      assert.deepEqual(said(), head)
    })
  }

  test('is JSON, and taken apart, like a plain value', async () => {
    const line = usual('ADDED', 'prices', 1)
    assert.deepEqual(JSON.parse(JSON.stringify(await read(`${JSON.stringify(line)}\n`))), [line])
    const { type, object } = await readOne(JSON.stringify(line))
    assert.deepEqual({ type, object }, line)
    // The compiler tells a bookmark from what has an object of the kind.
    const sizeOf = (event: WatchEvent<Thing>): number | undefined => (event.type === 'BOOKMARK' ? undefined : event.object.size)
    assert.equal(sizeOf(await readOne(JSON.stringify(usual('ADDED', 'a', 1, { size: 5 })))), 5)
  })

  test('whose object is no JSON fails when that is read, each time', async () => {
    const event = await readOne(broken)
    assert.deepEqual([event.type, event.name, event.resourceVersion], ['MODIFIED', 'broken', '7'])
    for (let i = 0; i < 2; i++) assert.throws(() => event.object, isBroken)
    assert.throws(() => JSON.stringify(event), isBroken)
  })

  test('that is none fails at once', async () => {
    for (const line of ['5', 'null', '{"type":"ADDED"}', '{"object":{}}', '{"type":"ADDED","object":3}'])
      await assert.rejects(
        read(`${line}\n`),
        (error) => error instanceof ProtocolError && error.message === `a line of the watch is no event: ${line}`,
      )
    // Cut off within the line.
    await assert.rejects(read(`${broken.slice(0, -3)}\n`), isBroken)
  })
})

describe('the events of a watch', () => {
  const line = (i: number): string => `${JSON.stringify(usual('MODIFIED', `ä-${i}`, i))}\n`

  test('are the same wherever their bytes are cut, in every kind of array', async () => {
    const bytes = Buffer.from(line(1) + line(2) + line(3))
    const whole = JSON.stringify(await read(bytes))
    assert.equal(JSON.parse(whole).length, 3)
    for (let cut = 1; cut < bytes.length; cut += 7) {
      for (const chunk of [bytes, new Uint8Array(bytes)])
        assert.equal(JSON.stringify(await read(chunk.subarray(0, cut), chunk.subarray(cut))), whole)
    }
  })

  test('are parsed at once for who reads the objects, and no longer when they are not read any more', async () => {
    const seen: string[] = []
    const chunks = [line(1) + line(2), `${line(3)}${broken}\n`, line(4)]
    await assert.rejects(async () => {
      for await (const events of readEvents<Thing>(bytesOf(chunks)))
        seen.push(...events.map(({ object }) => object.metadata?.resourceVersion ?? ''))
    }, isBroken)
    // Told before the events that came with it.
    assert.deepEqual(seen, ['1', '2'])
    const names: string[] = []
    for await (const events of readEvents<Thing>(bytesOf([line(1), line(2), `${broken}\n`, `${broken}\n`]))) {
      if (names.length === 0) assert.equal(events[0]?.object.metadata?.name, 'ä-1')
      names.push(...events.map(({ name }) => name))
    }
    assert.deepEqual(names, ['ä-1', 'ä-2', 'broken', 'broken'])
  })

  test('hold no more than a short text that they came in, and their names not even that', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const used = (): number => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const kept: unknown[] = []
    const before = used()
    for (let i = 0; i < 40; i++) {
      const large = `${JSON.stringify(usual('ADDED', 'a-name-that-is-no-copy-by-itself', i, { data: 'x'.repeat(1 << 20) }))}\n`
      const [small, other] = await read(Buffer.from(line(i) + large))
      kept.push(small, other?.name, other?.uid)
    }
    const grown = used() - before
    assert.ok(grown < 10 << 20, `${grown} bytes are held`)
    assert.equal(kept.length, 120)
  })
})

/** Lists are empty; watches are these bytes, and the last one stays open. */
class Wire implements Watchable<Thing> {
  readonly asked: string[] = []
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
    this.asked.push(resourceVersion ?? '')
    const next = this.watches.shift()
    return readEvents<Thing>(next === undefined ? silence(signal) : bytesOf([next]))
  }
}

async function* silence(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new ConnectionError('over')), { once: true }))
}

describe('who follows', () => {
  test('goes on, and compares after a gap, without that an object is parsed', async () => {
    const gone = '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n'
    const shopThing = (name: string, version: number): Thing => ({
      metadata: { ...thing(name, version).metadata, namespace: 'shop', uid: `uid-of-${name}` },
    })
    const wire = new Wire([listOf(3, shopThing('a', 2)), listOf(20, shopThing('broken', 7))], [`${broken}\n`, gone])
    const seen: string[] = []
    for await (const event of follow(wire, { backOff })) {
      seen.push(`${event.type} ${event.namespace}/${event.name} ${event.uid}`)
      if (seen.length === 3) break
    }
    // That which was never parsed is known: it is not told anew, and what is missing is gone.
    assert.deepEqual(seen, ['ADDED shop/a uid-of-a', 'MODIFIED shop/broken uid-of-broken', 'DELETED shop/a uid-of-a'])
    assert.deepEqual(wire.asked, ['3', '7'])
  })

  test('an informer, which parses every object, tries again when one is no JSON', async () => {
    const good = JSON.stringify(usual('MODIFIED', 'broken', 7))
    const wire = new Wire([listOf(3)], [`${broken}\n`, `${good}\n`])
    const errors: unknown[] = []
    const informer = new Informer<Thing>(wire, { backOff, onError: (error) => errors.push(error) })
    await informer.until((store) => store.get('broken', 'shop') !== undefined)
    assert.equal(errors.length, 1)
    assert.ok(isBroken(errors[0]))
    assert.deepEqual(wire.asked.slice(0, 2), ['3', '3'])
    informer.close()
  })
})
